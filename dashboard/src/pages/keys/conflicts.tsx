import { Link } from '@tanstack/react-router';
import type { ApiKey, IdempotencyConflict } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Ago, Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';

interface ConflictsProps {
  readonly siteId: string;
  readonly keys: readonly ApiKey[];
}

/** Idempotency keys that were reused with another consent. It shows nothing if there are none. */
export function Conflicts({ siteId, keys: apiKeys }: ConflictsProps) {
  const { keys } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const query = usePages<IdempotencyConflict>(['conflicts', siteId], (cursor) =>
    api.GET('/api/v1/sites/{site_id}/idempotency-conflicts', {
      params: { path: { site_id: siteId }, query: { limit: 25, cursor } },
    }),
  );
  // Most sites have none, and a heading that is shown until that is known would flash. A failure is shown under it.
  if (query.error === null && (query.data?.length ?? 0) === 0) return null;
  const nameOf = (id: string) => {
    const key = apiKeys.find((one) => one.id === id);
    return key?.name || key?.prefix || id;
  };
  return (
    <Section title={keys.conflicts} lead={keys.conflictsLead}>
      <p>{keys.conflictsAdvice}</p>
      <Loaded query={query}>
        {(items) => (
          <Table
            label={keys.conflicts}
            items={items}
            keyOf={({ api_key_id, event_id }) => `${api_key_id} ${event_id}`}
            columns={[
              {
                label: keys.keptConsent,
                cell: ({ event_id }) => (
                  <Link to="/sites/$siteId/consents/$consentId" params={{ siteId, consentId: event_id }}>
                    {event_id}
                  </Link>
                ),
              },
              { label: keys.conflictKey, phone: 'labelled', cell: ({ api_key_id }) => nameOf(api_key_id) },
              { label: keys.notRecorded, phone: 'labelled', cell: ({ times }) => number(times) },
              { label: keys.firstConflict, phone: 'hidden', cell: ({ first_at }) => <Time at={first_at} /> },
              { label: keys.lastConflict, phone: 'labelled', cell: ({ last_at }) => <Ago at={last_at} /> },
            ]}
          />
        )}
      </Loaded>
      <More query={query} />
    </Section>
  );
}
