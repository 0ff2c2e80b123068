import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Skeleton } from '../../ui/skeleton.js';

interface TileProps {
  readonly label: string;
  /** Null while it loads. */
  readonly value: ReactNode;
  readonly hint?: string | undefined;
}

/** One number of the overview. */
export function Tile({ label, value, hint }: TileProps) {
  return (
    <div className="tile">
      <dt>{label}</dt>
      <dd>
        {value ?? <Skeleton lines={1} />}
        {hint === undefined ? null : <span className="hint">{hint}</span>}
      </dd>
    </div>
  );
}

/** Consents that the plan has left for this month. */
export function QuotaTile() {
  const { overview } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['subscription'],
    queryFn: () => dataOf(api.GET('/api/v1/subscription')),
    retry: false,
  });
  if (data === undefined) return <Tile label={overview.quota} value={null} />;
  const { left_this_month: left, consent_quota: quota, used_this_month: used } = data;
  if (left === null || quota === null) return <Tile label={overview.quota} value={overview.unlimited} />;
  return (
    <Tile
      label={overview.quota}
      value={<Link to="/plan">{number(left)}</Link>}
      hint={overview.quotaOf(number(used), number(quota))}
    />
  );
}

/** How old the newest time stamp is. */
export function StampTile() {
  const { overview } = useMessages();
  const { ago, number } = useFormats();
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['stamp-status'],
    queryFn: () => dataOf(api.GET('/api/v1/timestamps/status')),
    refetchInterval: 15_000,
  });
  if (data === undefined) return <Tile label={overview.stamp} value={null} />;
  const hints = [
    ...(data.is_development ? [overview.development] : []),
    ...(data.unstamped_entries > 0 ? [overview.waiting(number(data.unstamped_entries))] : []),
  ];
  const { last_stamp: last } = data;
  const age = last === null ? null : Math.max(0, (Date.now() - Date.parse(last.gen_time)) / 1000);
  return (
    <Tile
      label={overview.stamp}
      value={<Link to="/timestamps">{age === null ? overview.noStamp : ago(age)}</Link>}
      hint={hints.join('; ')}
    />
  );
}
