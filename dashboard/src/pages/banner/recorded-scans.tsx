import type { RecordedScan } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { More } from '../../ui/loaded.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';

/** How often the list is read again while a scan waits for its time stamp, in milliseconds. */
const POLL_MS = 5000;

/** The scans of a site that are evidence, with the state of their proof. Nothing if there is none. */
export function RecordedScans({ siteId }: { readonly siteId: string }) {
  const { scans, common } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const query = usePages<RecordedScan>(
    ['scans', siteId],
    (cursor) =>
      api.GET('/api/v1/sites/{site_id}/scans', {
        params: { path: { site_id: siteId }, query: { ...(cursor !== undefined && { cursor }) } },
      }),
    (items) => (items.some(({ publication }) => publication.stamped === null) ? POLL_MS : false),
  );
  const items = query.data ?? [];
  if (items.length === 0) return null;
  return (
    <>
      <h3>{scans.history}</h3>
      <Table
        label={scans.history}
        items={items}
        keyOf={({ publication }) => publication.event_id}
        columns={[
          { label: scans.page, cell: ({ url }) => <code>{url}</code> },
          { label: scans.recordedAt, cell: ({ recorded_at }) => <Time at={recorded_at} /> },
          { label: scans.findingsCount, phone: 'labelled', cell: ({ findings }) => number(findings) },
          { label: common.state, cell: ({ publication }) => <State {...publication} /> },
        ]}
      />
      <More query={query} />
    </>
  );
}

function State({ sealed, stamped }: RecordedScan['publication']) {
  const { scans } = useMessages();
  const state = stamped !== null ? 'stamped' : sealed !== null ? 'sealed' : 'waiting';
  return <Badge kind="neutral">{scans.states[state]}</Badge>;
}
