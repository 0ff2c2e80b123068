import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { ApiFailure } from '../../api/failure.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Page, Section } from '../../ui/page.js';
import { Facts, Table } from '../../ui/table.js';
import { usePages } from '../../ui/use-pages.js';

/** The plan of the organisation, and the consents of each month. */
export function Plan() {
  const { plan } = useMessages();
  const { number, month } = useFormats();
  const api = useApi();
  const usage = usePages(['usage'], (cursor) => api.GET('/api/v1/usage', { params: { query: { limit: 24, cursor } } }));
  return (
    <Page title={plan.title} lead={plan.lead}>
      <Section title={plan.current}>
        <CurrentPlan />
      </Section>
      <Section title={plan.usage}>
        <Loaded query={usage}>
          {(items) =>
            items.length === 0 ? (
              <p>{plan.noUsage}</p>
            ) : (
              <Table
                label={plan.usage}
                items={items}
                keyOf={(item) => item.month}
                columns={[
                  { label: plan.month, cell: (item) => month(item.month) },
                  { label: plan.consents, phone: 'labelled', cell: ({ consents }) => number(consents) },
                ]}
              />
            )
          }
        </Loaded>
        <More query={usage} />
      </Section>
    </Page>
  );
}

function CurrentPlan() {
  const { plan } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const query = useQuery({
    queryKey: ['subscription'],
    queryFn: () => dataOf(api.GET('/api/v1/subscription')),
    retry: false,
  });
  if (query.error instanceof ApiFailure && query.error.status === 404) {
    return (
      <Notice kind="warning">
        <p>{plan.none}</p>
      </Notice>
    );
  }
  const orNone = (count: number | null) => (count === null ? plan.unlimited : number(count));
  return (
    <Loaded query={query}>
      {(current) => (
        <Facts
          items={[
            [
              plan.name,
              <span key="name" className="actions">
                {current.name}
                <Badge kind={current.is_active ? 'good' : 'bad'}>
                  {current.is_active ? plan.active : plan.inactive}
                </Badge>
              </span>,
            ],
            [plan.quota, orNone(current.consent_quota)],
            [plan.used, number(current.used_this_month)],
            [plan.left, orNone(current.left_this_month)],
            [plan.rate, number(current.rate_limit_per_minute)],
          ]}
        />
      )}
    </Loaded>
  );
}
