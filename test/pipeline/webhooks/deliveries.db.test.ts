import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { pruneDeliveries, pruneWebhook } from '../../../src/tenancy/webhooks/deliveries.js';
import { RecordingTenant } from '../../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { until } from '../../support/wait.js';
import { count } from '../relay/pipeline.js';
import { WebhookReceiver } from './receiver.js';

const Made = z.object({ data: z.looseObject({ id: z.string(), secret: z.string() }) });
const Delivery = z.object({ data: WebhookDelivery });
const Deliveries = z.array(WebhookDelivery);
const EVENTS = ['consent.recorded', 'consent.withdrawn', 'idempotency.conflict'];

describe('the deliveries of a webhook', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let receiver: WebhookReceiver;
  let ledger: ConsentLedger;
  beforeAll(async () => {
    receiver = await WebhookReceiver.open();
    app = await startApp('serve', { WEBHOOK_NETWORKS: '127.0.0.0/8' });
    shop = await RecordingTenant.of(app);
    ledger = sdkOf(shop);
  });
  afterAll(async () => {
    await app?.stop();
    receiver?.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answers.clear();
  });

  const sdkOf = ({ backend: { demo } }: RecordingTenant) =>
    new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
  const make = async (path: string) => {
    const body = { url: `${receiver.origin}${path}`, events: EVENTS };
    return Made.parse((await shop.inSite('admin', 'POST', '/webhooks', body)).body).data;
  };
  const test = (id: string) => shop.inSite('admin', 'POST', `/webhooks/${id}/test`);
  const again = (id: string, { id: delivery, attempt }: WebhookDelivery) =>
    shop.inSite('admin', 'POST', `/webhooks/${id}/deliveries/${delivery}/send-again`, { after_attempt: attempt });
  /** The newest delivery of a webhook, once it is as expected. */
  const newest = async (id: string, expected: Partial<WebhookDelivery>): Promise<WebhookDelivery> => {
    const isReached = ([first]: WebhookDelivery[]) =>
      Object.entries(expected).every(([name, value]) => first !== undefined && Reflect.get(first, name) === value);
    const [first] = await shop.until(Deliveries, `/webhooks/${id}/deliveries`, isReached);
    return WebhookDelivery.parse(first);
  };
  const auditOf = async (action: string) => {
    const { body } = await shop.as('owner', 'GET', `/audit-log?action=${action}`);
    return z.object({ data: z.array(z.looseObject({ details: z.looseObject({}) })) }).parse(body).data;
  };

  it('begin with a test message, signed like the others, which is not repeated', async () => {
    const { id, secret } = await make('/test');
    const answer = await test(id);
    expect(answer).toMatchObject({ status: 202, body: { data: { type: 'webhook.test', status: 'waiting' } } });
    const shown = await newest(id, { status: 'delivered' });
    expect(shown).toMatchObject({ attempt: 1, error: null, event_id: null, attempted_at: expect.any(String) });
    expect(receiver.eventsAt('/test', secret)).toEqual([
      {
        id: shown.message_id,
        type: 'webhook.test',
        timestamp: shown.created_at,
        data: { site_id: shop.siteId, webhook_id: id },
      },
    ]);
    expect(await auditOf('webhook.test')).toMatchObject([{ details: { delivery_id: shown.id } }]);
    for (let i = 1; i < 5; i += 1) expect((await test(id)).status).toBe(202);
    expect(await test(id)).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } });
  });

  it('say what the receiver answered by its status alone, and when the next attempt is', async () => {
    const { id } = await make('/refusing');
    receiver.answers.set('/refusing', 400);
    const { id: record } = await shop.record();
    const shown = await newest(id, { status: 'retrying' });
    expect(shown).toMatchObject({ type: 'consent.recorded', event_id: record, attempt: 1 });
    expect(shown.error).toBe('the receiver answered 400');
    expect(await again(id, shown)).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    receiver.answers.clear();
    expect(await newest(id, { status: 'delivered' })).toMatchObject({ id: shown.id, attempt: 2, error: null });
    await shop.inSite('admin', 'DELETE', `/webhooks/${id}`);
  });

  it('give up what somebody asked for after one failure, so that no refusing receiver holds its events back', async () => {
    const { id } = await make('/old');
    receiver.answers.set('/old', 400);
    for (let i = 0; i < 4; i += 1) await test(id);
    const isGivenUp = ({ status, attempt }: WebhookDelivery) => status === 'given_up' && attempt === 1;
    await shop.until(Deliveries, `/webhooks/${id}/deliveries`, (all) => all.length === 4 && all.every(isGivenUp));
    const given = await newest(id, { error: 'the receiver answered 400' });
    receiver.answers.clear();
    await shop.record();
    await newest(id, { type: 'consent.recorded', status: 'delivered' });
    expect((await again(id, given)).status).toBe(202);
    await until(() => receiver.at('/old').at(-1)?.body.includes('webhook.test') === true);
  });

  it('are sent again with the same id: once, however often somebody presses', async () => {
    const { id, secret } = await make('/again');
    const record = await shop.record();
    const first = await newest(id, { status: 'delivered' });
    const answers = await Promise.all([again(id, first), again(id, first)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await newest(id, { status: 'delivered', attempt: 2 });
    expect(Delivery.parse((await again(id, first)).body).data).toMatchObject({ status: 'delivered', attempt: 2 });
    expect(receiver.eventsAt('/again', secret).map((event) => event.id)).toEqual(
      Array.from({ length: 2 }, () => `msg_${record.id}`),
    );
    const queued = (await auditOf('webhook.send_again')).map(({ details }) => details.queued);
    expect(queued.filter((one) => one === true)).toHaveLength(2);
    for (const role of ['dpo', 'viewer'] as const) {
      const path = `/webhooks/${id}/deliveries/${first.id}/send-again`;
      expect((await shop.inSite(role, 'POST', path, { after_attempt: 2 })).status).toBe(403);
    }
  });

  it('are listed, tested and sent again by the SDK of a backend, which sees those of its site alone', async () => {
    const { id, secret } = await make('/sdk');
    expect(await ledger.testWebhook(id)).toMatchObject({ webhook_id: id, status: 'waiting' });
    await newest(id, { status: 'delivered' });
    const { id: record } = await shop.record();
    const shown = await newest(id, { status: 'delivered', event_id: record });
    const listed: WebhookDelivery[] = [];
    for await (const delivery of ledger.webhookDeliveries(id)) listed.push(delivery);
    expect(listed.map(({ type }) => type)).toEqual(['consent.recorded', 'webhook.test']);
    expect(await ledger.sendWebhookAgain(shown)).toMatchObject({ id: shown.id, status: 'waiting' });
    await newest(id, { status: 'delivered', attempt: 2 });
    expect(receiver.eventsAt('/sdk', secret)).toHaveLength(3);
    expect(await auditOf('webhook.send_again')).toContainEqual(
      expect.objectContaining({ details: expect.objectContaining({ channel: 's2s', delivery_id: shown.id }) }),
    );
    const other = sdkOf(await RecordingTenant.of(app));
    const notThere = { status: 404, code: 'RESOURCE_NOT_FOUND' };
    await expect(other.sendWebhookAgain(shown)).rejects.toMatchObject(notThere);
    await expect(other.testWebhook(id)).rejects.toMatchObject(notThere);
    await expect(other.webhookDeliveries(id).next()).rejects.toMatchObject(notThere);
    expect(await other.webhookDeliveries().next()).toMatchObject({ done: true });
  });

  it('are not sent again once the record is erased or the conflict is no longer kept, or while the webhook is paused', async () => {
    const { id } = await make('/gone');
    const key = randomUUID();
    await shop.record({ visitor_id: 'erased-visitor', idempotency_key: key, decision: 'accepted' });
    const recorded = await newest(id, { status: 'delivered' });
    await shop.backend.record({ visitor_id: 'erased-visitor', idempotency_key: key, decision: 'rejected' });
    const conflict = await newest(id, { status: 'delivered', type: 'idempotency.conflict' });
    await shop.inSite('admin', 'PATCH', `/webhooks/${id}`, { enabled: false });
    for (const refused of [await test(id), await again(id, recorded)])
      expect(refused).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
    await shop.inSite('admin', 'PATCH', `/webhooks/${id}`, { enabled: true });
    const order = { subject: { by: 'visitor_id', value: 'erased-visitor' }, idempotency_key: randomUUID() };
    await shop.inSite('dpo', 'POST', '/erasures', order);
    await until(() => count(app.superuser, 'erased_records'));
    expect((await again(id, recorded)).status).toBe(410);
    expect(await again(id, conflict)).toMatchObject({ status: 410, body: { code: 'EVENT_GONE' } });
    await app.superuser.query('delete from erased_records; delete from idempotency_conflicts');
    expect((await again(id, conflict)).status).toBe(410);
  });

  it.each([
    ['place', 'place + 1000', 'its event is no longer kept'],
    ['message_id', `'msg_of_another'`, 'its event is no longer kept'],
  ])('send nothing for a row whose %s was altered', async (column, value, error) => {
    const { id } = await make(`/altered-${column}`);
    await shop.record();
    const delivered = await newest(id, { status: 'delivered' });
    await app.superuser.query(`update webhook_deliveries set ${column} = ${value} where id = $1`, [delivered.id]);
    expect((await again(id, delivered)).status).toBe(202);
    await newest(id, { status: 'given_up', error });
    expect(receiver.at(`/altered-${column}`)).toHaveLength(1);
  });

  it('are kept for 30 days, and 1,000 of each webhook', async () => {
    const { id } = await make('/many');
    const worker = app.service.installation.workerPool;
    await app.superuser.query(
      `insert into webhook_deliveries (id, webhook_id, message_id, type, place, status)
       select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'msg_' || n, 'consent.recorded', n, 'delivered' from generate_series(1, 1005) n`,
      [id],
    );
    const kept = async () => {
      const { rows } = await app.superuser.query(
        'select count(*)::integer as n, min(place)::integer as first from webhook_deliveries where webhook_id = $1',
        [id],
      );
      return rows;
    };
    await pruneWebhook(worker, id);
    expect(await kept()).toEqual([{ n: 1000, first: 6 }]);
    const page = await shop.inSite('dpo', 'GET', `/webhooks/${id}/deliveries?limit=1`);
    const { next_cursor: cursor } = z.object({ next_cursor: z.string() }).parse(page.body);
    const next = await shop.inSite('dpo', 'GET', `/webhooks/${id}/deliveries?limit=1&cursor=${cursor}`);
    expect(next.body).toMatchObject({ data: [{ message_id: 'msg_1004' }] });
    // The ids of these rows are older than every time.
    await test(id);
    await newest(id, { type: 'webhook.test', status: 'delivered' });
    await pruneDeliveries(worker);
    expect(await kept()).toEqual([{ n: 1, first: 0 }]);
    await pruneDeliveries(worker, Date.now() + 31 * 86_400_000);
    expect(await kept()).toEqual([{ n: 0, first: null }]);
  });
});
