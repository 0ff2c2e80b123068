import { Link } from '@tanstack/react-router';
import type { Erasure } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';
import { useSiteId } from '../sites/use-site.js';

/** The erasures of a site. */
export function Erasures() {
  const { erasures, common, shell } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const siteId = useSiteId();
  const query = usePages(['erasures', siteId], (cursor) =>
    api.GET('/api/v1/sites/{site_id}/erasures', {
      params: { path: { site_id: siteId }, query: { limit: 25, cursor } },
    }),
  );
  return (
    <Page title={erasures.title} lead={erasures.lead}>
      <Section title={erasures.list}>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <Empty title={erasures.emptyTitle}>
                <p>{erasures.emptyText}</p>
                <Link to="/sites/$siteId/consents" params={{ siteId }}>
                  {shell.consents}
                </Link>
              </Empty>
            ) : (
              <Table
                label={erasures.list}
                items={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: erasures.requested,
                    cell: ({ id, requested_at }) => (
                      <Link to="/sites/$siteId/erasures/$erasureId" params={{ siteId, erasureId: id }}>
                        <Time at={requested_at} />
                      </Link>
                    ),
                  },
                  { label: erasures.reason, cell: ({ reason }) => erasures.reasons[reason] },
                  { label: erasures.records, phone: 'labelled', cell: ({ erased_records }) => number(erased_records) },
                  { label: common.state, phone: 'top', cell: ({ state }) => <ErasureState state={state} /> },
                ]}
              />
            )
          }
        </Loaded>
        <More query={query} />
      </Section>
    </Page>
  );
}

/** Whether an erasure was carried out. */
export function ErasureState({ state }: Pick<Erasure, 'state'>) {
  const { erasures } = useMessages();
  return <Badge kind={state === 'finished' ? 'good' : 'warning'}>{erasures.states[state]}</Badge>;
}
