import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { IdempotencyConflict } from '../../../schemas/api/panel/api-keys.js';
import { InvalidWebhook, verifyWebhook } from '../../../sdk/node/src/webhooks.js';
import { RecordingTenant } from '../../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { until } from '../../support/wait.js';
import { WebhookReceiver } from './receiver.js';

const Made = z.object({ data: z.looseObject({ id: z.string(), secret: z.string() }) });
const Conflicts = z.array(IdempotencyConflict);
const Shown = z.looseObject({
  delivered_revision: z.number(),
  last_error: z.string().nullable(),
  disabled_reason: z.string().nullable(),
  next_attempt_at: z.string().nullable(),
});

describe('webhooks of a site', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.open();
    app = await startApp('serve', { WEBHOOK_NETWORKS: '127.0.0.0/8' });
    shop = await RecordingTenant.of(app);
  });
  afterAll(async () => {
    await app?.stop();
    receiver?.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answers.clear();
  });

  const make = async (path: string, events: readonly string[]) => {
    const answer = await shop.inSite('admin', 'POST', '/webhooks', { url: `${receiver.origin}${path}`, events });
    expect(answer.status).toBe(201);
    return Made.parse(answer.body).data;
  };
  const at = (path: string) => receiver.at(path);
  const eventsAt = (path: string, secret: string) => receiver.eventsAt(path, secret);
  const reaches = (path: string, count: number) => receiver.reaches(path, count);
  const shown = (id: string) => shop.until(Shown, `/webhooks/${id}`, () => true);

  it('get signed events in the order of the log, without a personal value', async () => {
    const { secret } = await make('/order', ['consent.recorded', 'consent.withdrawn']);
    const first = await shop.record({ visitor_id: 'visitor-of-zoe', signer_email: 'zoe@person.example' });
    const second = await shop.record({ visitor_id: 'visitor-of-zoe', decision: 'withdrawn' });
    await reaches('/order', 2);
    const events = eventsAt('/order', secret);
    expect(events.map(({ type, data }) => [type, data.event_id])).toEqual([
      ['consent.recorded', first.id],
      ['consent.withdrawn', second.id],
    ]);
    expect(events[0]?.data).toMatchObject({ consent_token: first.consent_token, site_id: shop.siteId });
    expect(JSON.stringify(receiver.received)).not.toContain('zoe');
    expect(at('/order')[0]?.headers['user-agent']).toMatch(/^consent-ledger\/\d/);
  });

  it('tell of an objection and its end as no consent and no withdrawal, and of opt-outs as of consents', async () => {
    const all = ['consent.recorded', 'consent.withdrawn', 'objection.recorded', 'objection.ended'];
    const { id, secret } = await make('/acts', all);
    await shop.record({ consent_type: 'objection', decision: 'rejected', categories: { analytics: false } });
    for (const consent_type of ['objection', 'do_not_sell_opt_out'])
      await shop.record({ consent_type, decision: 'withdrawn' });
    await reaches('/acts', 3);
    const events = eventsAt('/acts', secret);
    expect(events.map(({ type }) => type)).toEqual(['objection.recorded', 'objection.ended', 'consent.withdrawn']);
    expect(events[0]?.data).toMatchObject({
      decision: 'rejected',
      valid_until: null,
      ask_again_at: null,
      rule_id: null,
    });
    await shop.inSite('admin', 'DELETE', `/webhooks/${id}`);
  });

  it('tell of an erasure and of a time stamp', async () => {
    const { secret } = await make('/later', ['consent.erased', 'evidence.stamped']);
    const { id } = await shop.record({ visitor_id: 'ben' });
    const order = { subject: { by: 'visitor_id', value: 'ben' }, idempotency_key: randomUUID() };
    expect((await shop.inSite('dpo', 'POST', '/erasures', order)).status).toBeLessThan(300);
    const erased = () => eventsAt('/later', secret).find(({ type }) => type === 'consent.erased');
    const stamped = () => eventsAt('/later', secret).find(({ type }) => type === 'evidence.stamped');
    await until(() => erased() !== undefined && stamped() !== undefined);
    expect(erased()?.data).toMatchObject({ event_id: id, reason: 'person' });
    expect(stamped()?.data).toMatchObject({ site_id: shop.siteId, stamped_up_to_revision: expect.any(Number) });
  });

  it('tell once of an idempotency key that is used with other bodies, and so does the panel', async () => {
    const { id, secret } = await make('/conflicts', ['idempotency.conflict']);
    const key = randomUUID();
    const kept = await shop.record({ idempotency_key: key, decision: 'accepted' });
    for (const decision of ['withdrawn', 'rejected'])
      expect(await shop.backend.record({ idempotency_key: key, decision })).toMatchObject({
        consent_token: kept.consent_token,
      });
    await reaches('/conflicts', 1);
    const conflicts = await shop.until(Conflicts, '/idempotency-conflicts', ([first]) => first?.times === 2);
    expect(conflicts).toMatchObject([{ event_id: kept.id, consent_token: kept.consent_token }]);
    const { first_at: firstAt, api_key_id: apiKeyId } = conflicts[0] ?? {};
    const ids = { site_id: shop.siteId, event_id: kept.id, consent_token: kept.consent_token, api_key_id: apiKeyId };
    expect(eventsAt('/conflicts', secret)).toEqual([
      { id: `msg_${kept.id}_${apiKeyId}`, type: 'idempotency.conflict', timestamp: firstAt, data: ids },
    ]);
    const { body } = await shop.as('viewer', 'GET', '/statistics/consents');
    expect(body).toMatchObject({ data: { sites: [{ site_id: shop.siteId, idempotency_conflicts: 1 }] } });
    await shop.inSite('admin', 'DELETE', `/webhooks/${id}`);
  });

  it('are tried again after a failure, with the same id and a new signature, and miss nothing', async () => {
    const { id, secret } = await make('/failing', ['consent.recorded']);
    receiver.answers.set('/failing', 503);
    const record = await shop.record();
    await until(async () => (await shown(id)).last_error !== null);
    expect(await shown(id)).toMatchObject({
      last_error: 'the receiver answered 503',
      next_attempt_at: expect.any(String),
    });
    receiver.answers.delete('/failing');
    await reaches('/failing', 2);
    const [first, second] = eventsAt('/failing', secret);
    expect([first?.id, second?.id]).toEqual([`msg_${record.id}`, `msg_${record.id}`]);
    await until(async () => (await shown(id)).last_error === null);
  });

  it('end when the receiver says that it is gone, and continue where they stopped', async () => {
    const { id } = await make('/gone', ['consent.recorded']);
    receiver.answers.set('/gone', 410);
    await shop.record();
    await until(async () => (await shown(id)).disabled_reason === 'gone');
    receiver.answers.delete('/gone');
    const next = await shop.record();
    expect(at('/gone')).toHaveLength(1);
    await shop.inSite('admin', 'PATCH', `/webhooks/${id}`, { enabled: true });
    await until(() => at('/gone').some(({ body }) => body.includes(next.id)));
    expect(at('/gone')).toHaveLength(3);
  });

  it('are disabled after three days without a success', async () => {
    const { id } = await make('/dead', ['consent.recorded']);
    receiver.answers.set('/dead', 500);
    await shop.record();
    await until(async () => (await shown(id)).last_error !== null);
    expect((await shown(id)).disabled_reason).toBeNull();
    await app.superuser.query(
      `update webhook_progress set failing_since = now() - interval '73 hours', next_attempt_at = now() where webhook_id = $1`,
      [id],
    );
    await until(async () => (await shown(id)).disabled_reason === 'failing');
  });

  it('send everything again from a revision, and nothing once they are deleted', async () => {
    const { id, secret } = await make('/again', ['consent.recorded', 'consent.withdrawn']);
    await shop.inSite('admin', 'POST', `/webhooks/${id}/replay`, { from_revision: 0 });
    const revisionsHere = () => eventsAt('/again', secret).map(({ data }) => Number(data.revision));
    // A message arrives a moment before its revision is stored.
    await shop.until(
      Shown,
      `/webhooks/${id}`,
      ({ delivered_revision: revision }) => at('/again').length > 3 && revision >= (revisionsHere().at(-1) ?? 0),
    );
    const revisions = revisionsHere();
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(revisions[0]).toBe(0);
    expect((await shop.inSite('admin', 'DELETE', `/webhooks/${id}`)).status).toBe(200);
    receiver.received.length = 0;
    const marker = await make('/marker', ['consent.recorded']);
    await shop.record();
    await reaches('/marker', 1);
    expect(at('/again')).toEqual([]);
    expect(marker.id).not.toBe(id);
  });

  it('send nothing from a row that was altered by SQL', async () => {
    const { id } = await make('/honest', ['consent.recorded']);
    await app.superuser.query(`update webhooks set url = $2 where id = $1`, [id, `${receiver.origin}/thief`]);
    await shop.record();
    await until(async () => (await shown(id)).last_error !== null);
    expect((await shown(id)).last_error).toBe('its row was altered in the database');
    expect(at('/thief')).toEqual([]);
  });

  it('are verified with the headers of Node and of the Fetch standard, and not without a signature', async () => {
    const { secret } = await make('/fetch', ['consent.recorded']);
    await shop.record();
    await reaches('/fetch', 1);
    const [{ body, headers } = { body: '', headers: {} }] = at('/fetch');
    const given = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    const fetched = new Headers(Object.fromEntries(given));
    expect(verifyWebhook(body, fetched, secret)).toEqual(verifyWebhook(body, headers, secret));
    fetched.delete('webhook-signature');
    expect(() => verifyWebhook(body, fetched, secret)).toThrow(InvalidWebhook);
  });

  it('are not signed with an empty secret in a verifier', () => {
    for (const secret of ['', 'whsec_', '   ', 'whsec_!!!!'])
      expect(() =>
        verifyWebhook(
          '{}',
          {
            'webhook-id': 'a',
            'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
            'webhook-signature': 'v1,x',
          },
          secret,
        ),
      ).toThrow(RangeError);
  });

  it('are signed with the old and the new secret after a rotation, and without a grace with the new one', async () => {
    const { id, secret } = await make('/secret', ['consent.recorded']);
    const rotate = async (body?: object): Promise<string> =>
      Made.parse((await shop.inSite('admin', 'POST', `/webhooks/${id}/rotate-secret`, body)).body).data.secret;
    const second = await rotate();
    await shop.record();
    await reaches('/secret', 1);
    expect(eventsAt('/secret', second)).toHaveLength(1);
    expect(eventsAt('/secret', secret)).toHaveLength(1);

    const third = await rotate({ grace_seconds: 60 });
    await app.change(
      `update webhooks set previous_secret_until = previous_secret_until - interval '60 seconds' where id = $1`,
      [id],
    );
    receiver.received.length = 0;
    await shop.record();
    await reaches('/secret', 1);
    expect(eventsAt('/secret', third)).toHaveLength(1);
    for (const old of [secret, second]) expect(() => eventsAt('/secret', old)).toThrow(InvalidWebhook);

    const fourth = await rotate({ grace_seconds: 0 });
    receiver.received.length = 0;
    await shop.record();
    await reaches('/secret', 1);
    expect(eventsAt('/secret', fourth)).toHaveLength(1);
    expect(() => eventsAt('/secret', third)).toThrow(InvalidWebhook);
  });

  it('are refused with the field: other schemes, credentials, fragments, no or unknown events', async () => {
    const refused = async (body: object) => (await shop.inSite('admin', 'POST', '/webhooks', body)).status;
    const events = ['consent.recorded'];
    for (const url of ['ftp://x.example/', 'https://a:b@x.example/', 'https://x.example/#a', 'x', 'javascript:1'])
      expect(await refused({ url, events }), url).toBe(422);
    for (const wrong of [[], ['consent.*'], ['consent.recorded', 'consent.recorded']])
      expect(await refused({ url: 'https://x.example/', events: wrong })).toBe(422);
    expect((await shop.inSite('viewer', 'POST', '/webhooks', { url: receiver.origin, events })).status).toBe(403);
  });

  it('are refused with the reason where no delivery could arrive, when they are entered and changed', async () => {
    const events = ['consent.recorded'];
    const { id } = await make('/changed', events);
    for (const [url, reason] of [
      ['http://8.8.8.8/', 'the URL is not https'],
      ['https://10.0.0.7/', 'the host has no public address'],
      ['https://[64:ff9b:1::7]/', 'the host has no public address'],
    ]) {
      const body = { code: 'VALIDATION_ERROR', errors: [{ field: 'url', message: `is refused: ${reason}.` }] };
      expect(await shop.inSite('admin', 'POST', '/webhooks', { url, events })).toMatchObject({ status: 422, body });
      expect(await shop.inSite('admin', 'PATCH', `/webhooks/${id}`, { url })).toMatchObject({ status: 422, body });
    }
    expect((await shop.inSite('admin', 'DELETE', `/webhooks/${id}`)).status).toBe(200);
  });

  it('wait neither for receivers that do not answer, nor for their tenant', async () => {
    const slow = await RecordingTenant.of(app);
    const events = ['consent.recorded'];
    const add = async (tenant: RecordingTenant, path: string) => {
      const answer = await tenant.inSite('admin', 'POST', '/webhooks', { url: `${receiver.origin}${path}`, events });
      return Made.parse(answer.body).data.id;
    };
    const paths = ['/silent/1', '/silent/2', '/silent/3', '/silent/4', '/silent/5'];
    for (const path of paths) receiver.silent.add(path);
    const ids: string[] = [];
    for (const path of paths) ids.push(await add(slow, path));
    await slow.record();
    for (const path of paths) await reaches(path, 1);
    await add(slow, '/beside');
    await slow.record();
    await reaches('/beside', 1);
    // The first of them still waits for its answer.
    const { rows } = await app.superuser.query(
      'select last_error from webhook_progress where webhook_id = any ($1) and last_error is not null',
      [ids],
    );
    expect(rows).toEqual([]);
  });

  it('say why nothing arrives where an event of the log cannot be read', async () => {
    const altered = await RecordingTenant.of(app);
    const { id: eventId } = await altered.record();
    await app.superuser.query(
      `begin; alter table event_log.events disable trigger append_only;
       update event_log.events set data = '{}' where id = '${eventId}';
       alter table event_log.events enable always trigger append_only; commit`,
    );
    const hook = { url: `${receiver.origin}/altered`, events: ['consent.recorded'] };
    const { id } = Made.parse((await altered.inSite('admin', 'POST', '/webhooks', hook)).body).data;
    await altered.inSite('admin', 'POST', `/webhooks/${id}/replay`, { from_revision: 0 });
    const isFailing = ({ last_error: error }: z.infer<typeof Shown>) => error === 'its events cannot be read';
    await altered.until(Shown, `/webhooks/${id}`, isFailing);
    expect(at('/altered')).toEqual([]);
  });

  it('are at most ten for a site', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1)
      statuses.push(
        (
          await shop.inSite('admin', 'POST', '/webhooks', {
            url: `${receiver.origin}/${i}`,
            events: ['consent.erased'],
          })
        ).status,
      );
    expect(statuses.at(-1)).toBe(409);
    const { body } = await shop.inSite('admin', 'GET', '/webhooks?limit=100');
    expect((await shop.inSite('viewer', 'GET', '/webhooks')).status).toBe(403);
    expect(z.object({ data: z.array(z.unknown()) }).parse(body).data).toHaveLength(10);
    expect(JSON.stringify(body)).not.toContain('whsec_');
  });
});
