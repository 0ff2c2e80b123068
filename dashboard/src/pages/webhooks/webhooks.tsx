import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { allPages, answerOf } from '../../api/client.js';
import type { NewWebhook, Webhook } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Empty, Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useSiteId } from '../sites/use-site.js';
import { AddWebhook } from './add-webhook.js';
import { Deliveries } from './deliveries.js';
import { errorInWords } from './error-in-words.js';
import { WebhookActions } from './webhook-actions.js';

/** The webhooks of a site, with the state of their deliveries. */
export function Webhooks() {
  const { webhooks } = useMessages();
  const api = useApi();
  const siteId = useSiteId();
  const mayChange = useMay('changeSites');
  const [shown, setShown] = useState<NewWebhook | null>(null);
  const query = useQuery({
    queryKey: ['webhooks', siteId],
    queryFn: () =>
      allPages((cursor) =>
        answerOf(
          api.GET('/api/v1/sites/{site_id}/webhooks', {
            params: { path: { site_id: siteId }, query: { limit: 100, cursor } },
          }),
        ),
      ),
    refetchInterval: 15_000,
  });
  const add = mayChange ? <AddWebhook siteId={siteId} onCreated={setShown} /> : null;
  return (
    <Page title={webhooks.title} lead={webhooks.lead}>
      <Section title={webhooks.list} actions={(query.data?.length ?? 0) === 0 ? null : add}>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <Empty title={webhooks.emptyTitle}>
                <p>{mayChange ? webhooks.emptyText : webhooks.emptyReader}</p>
                {add}
              </Empty>
            ) : (
              <WebhookTable items={items} siteId={siteId} onSecret={setShown} />
            )
          }
        </Loaded>
      </Section>
      {query.data === undefined || query.data.length === 0 ? null : (
        <Deliveries siteId={siteId} webhooks={query.data} />
      )}
      <Dialog title={webhooks.secret} isOpen={shown !== null} onClose={() => setShown(null)} isShownOnce>
        <ShownSecret value={shown?.secret ?? ''} />
        <Button look="primary" onPress={() => setShown(null)}>
          {webhooks.kept}
        </Button>
      </Dialog>
    </Page>
  );
}

function ShownSecret({ value }: { readonly value: string }) {
  const { webhooks, common } = useMessages();
  return (
    <>
      <Notice kind="warning">
        <p>{common.shownOnce}</p>
      </Notice>
      <p>{webhooks.secretText}</p>
      <Copyable text={value} label={webhooks.secret} />
    </>
  );
}

interface WebhookTableProps {
  readonly items: readonly Webhook[];
  readonly siteId: string;
  readonly onSecret: (webhook: NewWebhook) => void;
}

function WebhookTable({ items, siteId, onSecret }: WebhookTableProps) {
  const { webhooks, common } = useMessages();
  const mayChange = useMay('changeSites');
  return (
    <Table
      label={webhooks.list}
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { label: webhooks.url, cell: (webhook) => <Address value={webhook} /> },
        {
          label: webhooks.events,
          cell: ({ events }) => events.map((event) => webhooks.eventNames[event]).join(', '),
        },
        { label: webhooks.delivered, phone: 'labelled', cell: (webhook) => <Progress value={webhook} /> },
        { label: common.state, phone: 'top', cell: (webhook) => <State value={webhook} /> },
        ...(mayChange
          ? [
              {
                label: common.actions,
                cell: (webhook: Webhook) => <WebhookActions value={webhook} siteId={siteId} onSecret={onSecret} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function Address({ value: { url, description } }: { readonly value: Webhook }) {
  return (
    <>
      <code>{url}</code>
      {description === '' ? null : <p className="hint">{description}</p>}
    </>
  );
}

function Progress({ value }: { readonly value: Webhook }) {
  const { webhooks, common } = useMessages();
  const { dateTime, number } = useFormats();
  const { last_success_at: success, last_error: error, next_attempt_at: next, delivered_revision: revision } = value;
  return (
    <>
      {success === null ? common.never : <Time at={success} />}
      {revision < 0 ? null : <p className="hint">{webhooks.upTo(number(revision))}</p>}
      {error === null ? null : <p className="hint">{webhooks.lastError(errorInWords(error, webhooks.errors))}</p>}
      {next === null ? null : <p className="hint">{webhooks.nextAttempt(dateTime(next))}</p>}
    </>
  );
}

function State({ value: { disabled_at, disabled_reason, last_error } }: { readonly value: Webhook }) {
  const { webhooks } = useMessages();
  if (disabled_at !== null) {
    const kind = disabled_reason === 'requested' ? 'neutral' : 'bad';
    return <Badge kind={kind}>{webhooks.disabled[disabled_reason ?? 'requested']}</Badge>;
  }
  if (last_error !== null) return <Badge kind="warning">{webhooks.failing}</Badge>;
  return <Badge kind="good">{webhooks.enabled}</Badge>;
}
