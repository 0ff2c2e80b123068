import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { Notice } from '../../ui/notice.js';
import { Time } from '../../ui/time.js';

/** Conditions that concern the tenant. */
export function Alarms() {
  const { overview } = useMessages();
  const api = useApi();
  const { data: sites = [] } = useSites();
  const { data: alarms = [] } = useQuery({
    queryKey: ['alarms'],
    queryFn: () => dataOf(api.GET('/api/v1/alarms')),
    refetchInterval: 60_000,
  });
  if (alarms.length === 0) return null;
  return (
    <Notice kind="problem">
      <h2>{overview.alarms}</h2>
      <ul className="list">
        {alarms.map(({ kind, site_id, since }) => (
          <li key={`${kind} ${site_id}`}>
            {site_id === null ? null : <strong>{sites.find(({ id }) => id === site_id)?.name}: </strong>}
            {overview.alarmTexts[kind]} {since === null ? null : <Time at={since} />}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
