import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { Webhook, WebhookDelivery } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge, type BadgeKind } from '../../ui/badge.js';
import { Confirm } from '../../ui/confirm.js';
import { SelectInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';
import { usePages } from '../../ui/use-pages.js';
import { errorInWords } from './error-in-words.js';

const KINDS: Readonly<Record<WebhookDelivery['status'], BadgeKind>> = {
  waiting: 'neutral',
  retrying: 'warning',
  delivered: 'good',
  given_up: 'bad',
};
/** Time after which the list is read again, in milliseconds, which is sooner while a delivery is under way. */
const SOON_MS = 2_000;
const LATER_MS = 15_000;

interface DeliveriesProps {
  readonly siteId: string;
  /** The webhooks, at least one. */
  readonly webhooks: readonly Webhook[];
}

/** The messages to one webhook, and the outcome of each. */
export function Deliveries({ siteId, webhooks: all }: DeliveriesProps) {
  const { webhooks } = useMessages();
  const [chosen, setChosen] = useState<string>();
  const shown = all.find(({ id }) => id === chosen) ?? all[0];
  if (shown === undefined) return null;
  return (
    <Section title={webhooks.deliveries} lead={webhooks.deliveriesLead}>
      {all.length === 1 ? null : (
        <SelectInput
          name="webhook"
          label={webhooks.url}
          options={all.map(({ id, url }) => ({ value: id, label: url }))}
          value={shown.id}
          onChange={setChosen}
        />
      )}
      <DeliveryTable key={shown.id} siteId={siteId} webhook={shown} />
    </Section>
  );
}

interface DeliveryTableProps {
  readonly siteId: string;
  readonly webhook: Webhook;
}

function DeliveryTable({ siteId, webhook: { id, disabled_at } }: DeliveryTableProps) {
  const { webhooks, common } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const path = { site_id: siteId, webhook_id: id };
  const query = usePages<WebhookDelivery>(
    ['deliveries', siteId, id],
    (cursor) =>
      api.GET('/api/v1/sites/{site_id}/webhooks/{webhook_id}/deliveries', {
        params: { path, query: { limit: 25, cursor } },
      }),
    (items) => (items.some(({ status }) => status === 'waiting' || status === 'retrying') ? SOON_MS : LATER_MS),
  );
  const again = useAction(({ id: delivery_id, attempt }: WebhookDelivery) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/send-again', {
        params: { path: { ...path, delivery_id } },
        body: { after_attempt: attempt },
      }),
    ),
  );
  return (
    <>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p>{webhooks.noDeliveries}</p>
          ) : (
            <Table
              label={webhooks.deliveries}
              items={items}
              keyOf={(item) => item.id}
              columns={[
                { label: webhooks.message, cell: (item) => <Message value={item} /> },
                {
                  label: webhooks.time,
                  phone: 'labelled',
                  cell: ({ attempted_at, created_at }) => <Time at={attempted_at ?? created_at} isExact />,
                },
                { label: webhooks.attempt, phone: 'labelled', cell: ({ attempt }) => number(attempt) },
                { label: common.state, phone: 'top', cell: (item) => <Status value={item} /> },
                ...(mayChange && disabled_at === null
                  ? [
                      {
                        label: common.actions,
                        cell: (item: WebhookDelivery) =>
                          item.status === 'delivered' || item.status === 'given_up' ? (
                            <Confirm
                              label={webhooks.sendAgain}
                              about={item.message_id}
                              isDanger={false}
                              action={() => again(item)}
                            >
                              <p>{webhooks.sendAgainText}</p>
                            </Confirm>
                          ) : null,
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Loaded>
      <More query={query} />
    </>
  );
}

function Message({ value: { type, message_id } }: { readonly value: WebhookDelivery }) {
  const { webhooks } = useMessages();
  return (
    <>
      {type === 'webhook.test' ? webhooks.testMessage : webhooks.eventNames[type]}
      <p className="hint">
        <code>{message_id}</code>
      </p>
    </>
  );
}

function Status({ value: { status, error } }: { readonly value: WebhookDelivery }) {
  const { webhooks } = useMessages();
  return (
    <>
      <Badge kind={KINDS[status]}>{webhooks.statuses[status]}</Badge>
      {error === null ? null : <p className="hint">{errorInWords(error, webhooks.errors)}</p>}
    </>
  );
}
