import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { createVerifier } from '../../../src/evidence/verification/verifier.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { ask, get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { postSigned } from '../../support/signed-requests.js';
import { eventually, until } from '../../support/wait.js';
import { alter, alterationsOf, restore } from './alterations.js';

const Accepted = z.object({
  data: z.object({ consent_token: z.string(), proof_hash: z.string(), created_at: z.string() }),
});
type Accepted = z.infer<typeof Accepted>['data'];
const Verified = z.object({
  valid: z.boolean(),
  data: z.object({ merkle_valid: z.boolean().nullable(), is_tsa_stamped: z.boolean() }),
});

describe('verification from stored bytes', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let other: SeededDemo;
  let consent: Accepted;
  let eventId: string;
  beforeAll(async () => {
    app = await startApp('serve', { PUBLIC_VERIFY_LIMIT: '100000' });
    demo = await app.seed();
    other = await app.seed();
    await app.superuser.query('alter table event_log.events disable trigger append_only');
    // Several records, so that the checked one has neighbours in stream, batch and ledger tree.
    for (let i = 0; i < 3; i += 1) await waitUntilStamped(await record(`earlier ${i}`));
    const [first] = await Promise.all([record('Ayşe'), record('neighbour'), record('another')]);
    if (first === undefined) throw new Error('nothing was recorded');
    consent = first;
    await waitUntilStamped(consent);
    eventId = uuidOf(consent.consent_token);
  });
  afterAll(() => app.stop());

  const activeVersion = (kind: string): string => {
    const document = demo.documents.find((one) => one.kind === kind);
    return document?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
  };
  const record = async (visitorId: string): Promise<Accepted> => {
    const response = await postSigned(app.url, demo.keys.write, '/tool/v1/consents', {
      consent_type: 'cookie',
      decision: 'partial',
      document_version_id: activeVersion('cookie_policy'),
      categories: { necessary: true, analytics: false },
      compliance_framework: 'gdpr',
      visitor_id: visitorId,
      idempotency_key: randomUUID(),
    });
    const text = await response.text();
    expect(response.status, text).toBe(202);
    return Accepted.parse(JSON.parse(text)).data;
  };
  const verify = (id: string, key = demo.keys.read) => get(app, `/tool/v1/consents/verify/${id}`, key);
  const waitUntilStamped = async ({ consent_token: id }: Accepted): Promise<void> => {
    await eventually(async () => {
      expect(Verified.safeParse((await verify(id)).body).data?.data.is_tsa_stamped).toBe(true);
    });
  };
  const publicly = (query: string) => ask(`${app.url}/api/v1/public/consents/verify${query}`);

  it('reports an unaltered record as valid, by each of its three identifiers', async () => {
    for (const id of [consent.consent_token, consent.proof_hash, eventId, eventId.toUpperCase()]) {
      expect(await verify(id)).toMatchObject({
        status: 200,
        body: {
          valid: true,
          data: {
            consent_type: 'cookie',
            decision: 'partial',
            proof_hash: consent.proof_hash,
            hash_version: 2,
            hash_valid: true,
            merkle_valid: true,
            is_anonymized: false,
            is_tsa_stamped: true,
            created_at: consent.created_at,
          },
        },
      });
    }
  });

  it('does not find unknown or malformed identifiers, or records of another tenant', async () => {
    for (const id of [randomUUID(), 'ct_0', 'x'.repeat(200), '%00', consent.proof_hash.slice(1)]) {
      const answer = await verify(id);
      expect(answer).toMatchObject({ status: 404, body: { valid: false, code: 'CONSENT_NOT_FOUND' } });
    }
    const unknown = await verify(randomUUID(), other.keys.read);
    const foreign = await verify(consent.consent_token, other.keys.read);
    expect(foreign).toMatchObject({ status: 404, body: unknown.body });
  });

  it('reports a record as invalid after the alteration of any column that it reads', async () => {
    for (const alteration of await alterationsOf(app.superuser, eventId, other)) {
      const { table, column, where } = alteration;
      const name = `${table}.${column}`;
      const before = await app.superuser.query(`select ${column}::text as text from ${table} where ${where}`);
      expect(before.rowCount, name).toBe(1);
      // The service answers 503 while it is not sure of its ledger, which an altered node of the ledger can cause.
      const answers = await until(async () => {
        await alter(app.superuser, alteration);
        const both = await Promise.all([verify(consent.consent_token), publicly(`?token=${consent.consent_token}`)]);
        await restore(app.superuser, alteration, before.rows[0]?.text ?? null);
        return both.every(({ status }) => status !== 503) ? both : null;
      });
      for (const { body } of answers) expect(body, name).toMatchObject({ valid: false });
      const restored = await until(async () => {
        const answer = await verify(consent.consent_token);
        return answer.status === 503 ? null : answer;
      });
      expect(restored.body, `${name} restored`).toMatchObject({ valid: true });
    }
  });

  it('gives no verdict on a record that the log lacks, and shows it nowhere', async () => {
    const [where, from, to] = [`id = '${eventId}'`, 'stream', '1000000'];
    const { rows } = await app.superuser.query(`select stream::text from event_log.events where ${where}`);
    const moved = { table: 'event_log.events', column: from, value: `'${to}'`, where };
    await alter(app.superuser, moved);
    const answers = await Promise.all([
      verify(consent.consent_token),
      verify(consent.proof_hash),
      publicly(`?token=${consent.consent_token}`),
      get(app, `/tool/v1/consents/status?visitor_id=${encodeURIComponent('Ayşe')}`, demo.keys.read),
    ]);
    await restore(app.superuser, moved, rows[0]?.stream ?? null);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(await verify(consent.consent_token)).toMatchObject({ status: 200, body: { valid: true } });
  });

  it('holds no connection of the database while it waits for the log', async () => {
    const { config, eventLog, keyring } = app.service.installation;
    const db = createPool({
      url: config.database.url ?? '',
      applicationName: 'test verifier',
      role: 'consent_ledger_api',
      maxConnections: 1,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    const read = eventLog.readEvents.bind(eventLog);
    const reading = vi.spyOn(eventLog, 'readEvents').mockImplementation(async (places) => {
      await db.query('select 1');
      return read(places);
    });
    try {
      const verifier = createVerifier({ db, keyring, eventLog, onDamagedNodes: () => undefined });
      expect(await verifier.verify({ eventId }, null)).toMatchObject({ valid: true });
      expect(reading).toHaveBeenCalledTimes(1);
    } finally {
      reading.mockRestore();
      await db.end();
    }
  });

  it('returns a record publicly, by each identifier, without personal data', async () => {
    const cookie = encodeURIComponent(JSON.stringify({ token: consent.consent_token, visitor_id: 'Ayşe' }));
    for (const query of [
      `?token=${consent.consent_token}`,
      `?proof_hash=${consent.proof_hash}`,
      `?id=${eventId}`,
      `?token=${encodeURIComponent(cookie)}`,
    ]) {
      const answer = await publicly(query);
      expect(answer, query).toMatchObject({
        status: 200,
        body: {
          valid: true,
          source: 'server',
          server_record_found: true,
          data: {
            decision: 'partial',
            categories: { necessary: true, analytics: false },
            site_domain: demo.site.domain,
            withdrawal_url: null,
            created_at: consent.created_at,
            hash_valid: true,
            is_tsa_stamped: true,
            timestamp: { time: expect.stringMatching(/Z$/), checkpoint_size: expect.any(Number) },
          },
        },
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/Ayşe|visitor|user_agent|ip_address|127\.0\.0\.1/);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('100000');
    }
    const posted = await ask(`${app.url}/api/v1/public/consents/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: eventId }),
    });
    expect(posted).toMatchObject({ status: 200, body: { valid: true } });
  });

  it('never reports a cookie without a record as valid', async () => {
    const fields = {
      consent_token: `ct_${'0'.repeat(32)}`,
      decision: 'accepted',
      categories: { analytics: true },
      visitor_id: 'Ayşe',
    };
    const json = JSON.stringify(fields);
    for (const value of [
      json,
      encodeURIComponent(json),
      Buffer.from(json).toString('base64url'),
      Buffer.from(json).toString('base64'),
    ]) {
      const answer = await publicly(`?token=${encodeURIComponent(value)}`);
      expect(answer, value).toMatchObject({
        status: 200,
        body: {
          valid: false,
          source: 'client_token',
          server_record_found: false,
          data: { decision: 'accepted', categories: { analytics: true } },
        },
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/Ayşe|visitor/);
    }
  });

  it('answers 404 for an unknown record, and 422 without an identifier', async () => {
    const notFound = { status: 404, body: { valid: false, code: 'CONSENT_NOT_FOUND' } };
    for (const query of [`?id=${randomUUID()}`, '?token=gibberish', '?token=%25%25', `?proof_hash=${'0'.repeat(64)}`]) {
      expect(await publicly(query), query).toMatchObject(notFound);
    }
    for (const query of ['', '?token=', '?other=1']) {
      expect(await publicly(query), query).toMatchObject({
        status: 422,
        body: { valid: false, code: 'IDENTIFIER_REQUIRED' },
      });
    }
  });

  it('lists only the visitor’s consents, newest first', async () => {
    const visitor = `visitor ${randomUUID()}`;
    const tokens: string[] = [];
    for (let i = 0; i < 3; i += 1) tokens.unshift((await record(visitor)).consent_token);
    const status = (key: string, query: string) => get(app, `/tool/v1/consents/status?${query}`, key);
    const named = `visitor_id=${encodeURIComponent(visitor)}`;
    const List = z.object({ data: z.object({ consents: z.array(z.looseObject({ consent_token: z.string() })) }) });
    const list = async (query: string, key = demo.keys.read) =>
      List.parse((await status(key, query)).body).data.consents.map(({ consent_token }) => consent_token);
    await expect.poll(() => list(named)).toEqual(tokens);
    expect(await list(`${named}&consent_type=cookie&document_slug=cookie-policy`)).toEqual(tokens);
    expect(await list(`${named}&document_version_id=${activeVersion('cookie_policy')}`)).toEqual(tokens);
    expect(await list(`${named}&document_slug=explicit-consent`)).toEqual([]);
    expect(await list(named, other.keys.read)).toEqual([]);
    expect(JSON.stringify((await status(demo.keys.read, named)).body)).not.toContain('visitor');
    expect(await status(demo.keys.read, '')).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR', errors: [{ field: 'visitor_id' }] },
    });
  });

  it('reports a record as invalid if its key was deleted with forged rows of an erasure that the log lacks', async () => {
    const victim = await record('victim');
    await waitUntilStamped(victim);
    const id = uuidOf(victim.consent_token);
    const madeUp = randomUUID();
    const { rows } = await app.superuser.query('delete from record_keys where event_id = $1 returning *', [id]);
    await app.superuser.query('insert into erasure_events (event_id) values ($1)', [madeUp]);
    await app.superuser.query(
      `insert into erased_records (event_id, site_id, reason, erasure_event_id) values ($1, $2, 'record', $3)`,
      [id, rows[0]?.site_id, madeUp],
    );
    const forgedErasure = await verify(victim.consent_token);
    await app.superuser.query('delete from erased_records where event_id = $1', [id]);
    await app.superuser.query('insert into record_keys (event_id, site_id, seed, seal) values ($1, $2, $3, $4)', [
      id,
      rows[0]?.site_id,
      rows[0]?.seed,
      rows[0]?.seal,
    ]);
    expect(forgedErasure.body).toMatchObject({ valid: false, data: { hash_valid: true } });
    expect((await verify(victim.consent_token)).body).toMatchObject({ valid: true });
  });

  it('reports a sealed record as invalid if the tables are altered to hide its sealing', async () => {
    const client = await app.superuser.connect();
    try {
      const victim = await record('unsealed');
      await waitUntilStamped(victim);
      const { rows } = await client.query('select stream, revision from leaves where event_id = $1', [
        uuidOf(victim.consent_token),
      ]);
      const { stream, revision } = z.object({ stream: z.string(), revision: z.int() }).parse(rows[0]);
      await client.query(
        'create temporary table kept as select e.* from sealed_events e join sealed_streams s on s.number = e.stream\n          where s.stream = $1 and e.revision >= $2',
        [stream, revision],
      );
      await client.query('begin');
      await client.query(
        'delete from sealed_events e using kept k where e.stream = k.stream and e.revision = k.revision',
      );
      await client.query(
        `update sealed_streams s set revision = l.revision, leaf = l.hash from leaves l
          where s.stream = $1 and l.stream = $1 and l.revision = $2`,
        [stream, revision - 1],
      );
      await client.query('commit');
      const unsealed = await verify(victim.consent_token);
      await client.query('insert into sealed_events select * from kept');
      await client.query(
        `update sealed_streams s set revision = l.revision, leaf = l.hash from leaves l
          where s.stream = l.stream and l.event_id = (select event_id from kept order by revision desc limit 1)`,
      );
      expect(unsealed.body).toMatchObject({ valid: false, data: { merkle_valid: false } });
      expect((await verify(victim.consent_token)).body).toMatchObject({ valid: true });
    } finally {
      client.release();
    }
  });

  it('takes the status from the verified text of records, not from columns of the read model', async () => {
    const visitor = `status ${randomUUID()}`;
    const { consent_token: token } = await record(visitor);
    const id = uuidOf(token);
    const status = () => get(app, `/tool/v1/consents/status?visitor_id=${encodeURIComponent(visitor)}`, demo.keys.read);
    await expect.poll(status).toMatchObject({ body: { data: { consents: [{ id }] } } });
    const { rows } = await app.superuser.query(`select live_generation as g from projections where name = 'consents'`);
    const table = `rm_consents_${z.object({ g: z.int() }).parse(rows[0]).g}.consents`;
    const set = (sql: string) => app.superuser.query(`update ${table} set ${sql} where event_id = $1`, [id]);
    await set(`valid_until = '2001-01-01', decision = 'accepted', erased_by = 0`);
    expect((await status()).body).toMatchObject({ data: { consents: [{ id, decision: 'partial' }] } });
    const replace = (from: string, to: string) =>
      app.superuser.query(
        `update event_log.events set data = convert_to(replace(convert_from(data, 'utf8'), $2, $3), 'utf8') where id = $1`,
        [id, from, to],
      );
    await replace('partial', 'accepted');
    expect(await status()).toMatchObject({ status: 200, body: { data: { consents: [] } } });
    await replace('accepted', 'partial');
    expect((await status()).body).toMatchObject({ data: { consents: [{ id, decision: 'partial' }] } });
  });

  it('reports an erased record as valid and anonymized', async () => {
    const erased = await record('to be erased');
    await waitUntilStamped(erased);
    const { workerPool, keyring, config } = app.service.installation;
    const journal = openErasureJournal(config.erasureJournal);
    await eraseSubject(
      { db: workerPool, keyring, journal },
      { siteId: demo.site.id, by: { kind: 'visitor', value: 'to be erased' } },
    );
    const expected = {
      valid: true,
      data: { is_anonymized: true, hash_valid: true, merkle_valid: true, is_tsa_stamped: true },
    };
    expect(await verify(erased.consent_token)).toMatchObject({ status: 200, body: expected });
    await expect
      .poll(async () => {
        const { rows } = await app.superuser.query(
          `select c.erased_by is not null and s.revision >= c.erased_by as is_sealed
             from read_model.consents c join sealed_streams s on s.stream = 'consents-' || c.site_id where c.event_id = $1`,
          [uuidOf(erased.consent_token)],
        );
        return rows[0]?.is_sealed;
      })
      .toBe(true);
    expect(await verify(erased.consent_token)).toMatchObject({ status: 200, body: expected });
  });
});

function uuidOf(token: string): string {
  return token.slice(3).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
