import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';

/** The batches with entries of the organisation, and their proofs. */
export function Batches() {
  const { timestamps } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const query = usePages(['batches'], (cursor) =>
    api.GET('/api/v1/timestamps/batches', { params: { query: { limit: 10, cursor } } }),
  );
  return (
    <Section title={timestamps.batches}>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{timestamps.empty}</p>
          ) : (
            <Table
              label={timestamps.batches}
              items={items}
              keyOf={(item) => String(item.number)}
              columns={[
                { label: timestamps.batch, cell: (item) => number(item.number) },
                { label: timestamps.sealed, phone: 'labelled', cell: ({ sealed_at }) => <Time at={sealed_at} /> },
                {
                  label: timestamps.entries,
                  phone: 'labelled',
                  cell: ({ own_entries }) => number(own_entries.consents + own_entries.notices),
                },
                {
                  label: timestamps.provedBy,
                  cell: ({ checkpoint }) =>
                    checkpoint === null ? (
                      timestamps.waiting
                    ) : (
                      <>
                        {timestamps.checkpointOf(number(checkpoint.size))}, <Time at={checkpoint.gen_time} />
                      </>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </Section>
  );
}
