import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { failureOf } from '../../../src/api/server/request-log.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createTestDatabase } from '../../support/postgres.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { until } from '../../support/wait.js';
import { ask, type RunningApp, startApp } from './running-app.js';

/** Values that no log line of any level may contain, by the name under which they are sent. */
const PERSONAL = {
  visitor_id: 'Ayşe-visitor-4711',
  signer_name: 'Ayşe Gül Yılmaz',
  signer_email: 'ayse.gul@customer.example',
  signer_phone: '+905551234567',
  signer_id_number: '10000000146',
  declaration: 'I declare sincerely',
  otp_reference: 'otp-ref-8812',
  metadata: 'cart-771-of-ayse',
  extra: 'loyalty-number-5512',
  idempotency: 'order-5512-of-ayse',
  address: '203.0.113.77',
  address6: '2001:db8:77::1',
  agent: 'Personal-Browser/7.7 (of Ayse)',
  referer: 'https://shop.example/orders/of-ayse',
  slug: 'document-of-ayse',
  path: 'path-of-ayse',
  cookie: 'session=cookie-of-ayse',
} as const;
const SIGN_IN = { email: 'panel.person@customer.example', password: 'hunter2-hunter2-hunter2' };
const Tokens = z.object({ data: z.object({ access_token: z.string(), refresh_token: z.string() }) });
const Minted = z.object({ data: z.object({ approval_token: z.string() }) });
const MintedForPerson = z.object({ data: z.object({ person_token: z.string() }) });
const Accepted = z.object({ data: z.object({ consent_token: z.string(), proof_hash: z.string() }) });

it.each(['select $1::uuid', 'select $1::int', 'select $1::timestamptz', 'select $1::inet'])(
  'a value that the database refuses is not logged: %s',
  async (sql) => {
    const database = await createTestDatabase({ migrated: false });
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const error: unknown = await pool.query(sql, [PERSONAL.visitor_id]).catch((failure: unknown) => failure);
    await pool.end();
    await database.drop();
    expect(error).toBeInstanceOf(pg.DatabaseError);
    expect(String(error)).toContain('Ayşe');
    const logged = failureOf(error);
    expect(JSON.stringify(logged)).not.toContain('Ayşe');
    expect(logged).toMatchObject({
      code: expect.stringMatching(/^22/),
      stack: expect.stringContaining('logs.db.test'),
    });
  },
);

describe('the log at its most talkative', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let secrets: string[];
  beforeAll(async () => {
    app = await startApp('serve', { LOG_LEVEL: 'trace', TRUSTED_PROXIES: '127.0.0.1' });
    demo = await app.seed();
    secrets = [demo.keys.read, demo.keys.write, demo.api_user.password, demo.panel_user.password];
    secrets.push(demo.api_user.email, demo.panel_user.email);
  });
  afterAll(() => app.stop());

  const connection = (address: string = PERSONAL.address) => ({
    'x-forwarded-for': address,
    'user-agent': PERSONAL.agent,
    referer: PERSONAL.referer,
    cookie: PERSONAL.cookie,
  });
  const post = async (path: string, content: unknown, headers: Record<string, string> = {}) => {
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    return ask(app.url + path, {
      method: 'POST',
      body,
      headers: { ...signedHeaders(demo.keys.write, path, body), ...connection(), ...headers },
    });
  };
  const get = (path: string, key: string = demo.keys.read, address?: string) =>
    ask(app.url + path, { headers: { 'x-api-key': key, ...connection(address) } });
  const person = {
    visitor_id: PERSONAL.visitor_id,
    signer_name: PERSONAL.signer_name,
    signer_email: PERSONAL.signer_email,
    signer_phone: PERSONAL.signer_phone,
    signer_id_number: PERSONAL.signer_id_number,
  };
  const versionOf = (kind: string): string => {
    const document = demo.documents.find((one) => one.kind === kind);
    return document?.versions.find(({ language, state }) => language === 'en' && state === 'active')?.id ?? '';
  };
  const consent = (more: object = {}) => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: versionOf('cookie_policy'),
    ...person,
    metadata: { cart: PERSONAL.metadata },
    extra_fields: { loyalty: PERSONAL.extra },
    ...more,
  });
  const bearerOf = async ({ email, password }: { email: string; password: string }): Promise<string> => {
    const { data } = Tokens.parse((await post('/api/v1/auth/login', { email, password })).body);
    secrets.push(data.access_token, data.refresh_token);
    await post('/api/v1/auth/refresh', { refresh_token: data.refresh_token });
    return `Bearer ${data.access_token}`;
  };
  /** Nothing of these is in the log. Compared as they are and as URLs and JSON write them. */
  const expectSilence = (): void => {
    const log = app.log();
    for (const value of [...Object.values(PERSONAL), ...Object.values(SIGN_IN), ...secrets]) {
      for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
        expect(log.includes(form), `the log holds ${form}`).toBe(false);
      }
      expect(log.toLowerCase()).not.toContain(value.toLowerCase());
    }
  };

  it('says nothing of a person or a secret when all goes well', async () => {
    const accepted = await post('/tool/v1/consents', consent({ idempotency_key: PERSONAL.idempotency }));
    expect(accepted.status).toBe(202);
    const { data } = Accepted.parse(accepted.body);
    secrets.push(data.consent_token, data.proof_hash);
    expect((await post('/tool/v1/consents/batch', { consents: [consent(), consent({ decision: 'x' })] })).status).toBe(
      422,
    );
    const bearer = await bearerOf(demo.api_user);
    const minted = await post(
      '/tool/v1/s2s/approval-tokens',
      {
        document_slug: 'explicit-consent',
        subject: PERSONAL.visitor_id,
        signer_name: PERSONAL.signer_name,
        signer_email: PERSONAL.signer_email,
        otp_reference: PERSONAL.otp_reference,
      },
      { authorization: bearer },
    );
    expect(minted.status).toBeLessThan(300);
    const approval = Minted.parse(minted.body).data.approval_token;
    secrets.push(approval);
    const approved = {
      consent_type: 'document_approval',
      document_version_id: versionOf('explicit_consent'),
      approval_token: approval,
      declaration_text: PERSONAL.declaration,
      ip_address: PERSONAL.address6,
      user_agent: PERSONAL.agent,
    };
    await post('/tool/v1/s2s/consents', consent(approved), { authorization: bearer });
    await turnAccountsOn(app, demo.site.id, null);
    const vouched = await until(async () => {
      const { body } = await post(
        '/tool/v1/s2s/person-tokens',
        { person: PERSONAL.visitor_id },
        { authorization: bearer },
      );
      return MintedForPerson.safeParse(body).data?.data.person_token;
    });
    secrets.push(vouched);
    await post('/tool/v1/consents', consent({ person_token: vouched }));
    // Used up, and in a body that is refused.
    await post('/tool/v1/consents', consent({ person_token: vouched, decision: 'perhaps' }));
    await ask(`${app.url}/tool/v1/consents/status?visitor_id=${encodeURIComponent(PERSONAL.visitor_id)}`, {
      headers: { 'x-api-key': demo.keys.read, 'x-person-token': vouched, ...connection() },
    });
    for (const path of [
      `/tool/v1/consents/status?visitor_id=${encodeURIComponent(PERSONAL.visitor_id)}`,
      `/tool/v1/documents/${PERSONAL.slug}/active`,
      `/${PERSONAL.path}?q=${encodeURIComponent(PERSONAL.signer_email)}`,
      `/api/v1/public/consents/verify?token=${data.consent_token}`,
      '/tool/v1/ping',
    ]) {
      await get(path);
      await get(path, `${demo.keys.read}x`, PERSONAL.address6);
    }
    secrets.push(`${demo.keys.read}x`);
    await ask(`${app.url}/tool/v1/s2s/consents/export?format=ndjson`, {
      headers: { 'x-api-key': demo.keys.read, authorization: bearer, ...connection() },
    }).catch(() => undefined);
    await until(() => app.log().includes('checkpoint stamped'));
    expect(app.log()).toContain('/tool/v1/consents/status');
    expectSilence();
  });

  it('says nothing of a person or a secret when callers are wrong', async () => {
    await post('/api/v1/auth/login', SIGN_IN);
    await post('/api/v1/auth/refresh', { refresh_token: PERSONAL.cookie });
    await post('/tool/v1/consents', `{"visitor_id":"${PERSONAL.visitor_id}",`);
    await post('/tool/v1/consents', consent({ [PERSONAL.signer_email]: 1, categories: { [PERSONAL.extra]: 'no' } }));
    await post('/tool/v1/consents', consent(), { 'x-signature': PERSONAL.signer_id_number });
    await post('/tool/v1/consents', consent(), { 'x-nonce': PERSONAL.signer_name.replaceAll(/\P{ASCII}/gu, '') });
    await post('/tool/v1/consents', consent(), { 'content-type': `text/${PERSONAL.path}` });
    await post('/tool/v1/s2s/consents', consent(), { authorization: `Bearer ${PERSONAL.path}` });
    await post(`/tool/v1/consents/${PERSONAL.path}`, consent());
    await fetch(`${app.url}/%E0%A4%A`, { headers: connection() });
    expectSilence();
  });

  it('says nothing of a person or a secret when the database fails, and says that it did', async () => {
    await app.superuser.query(
      'alter table event_log.events add constraint refuses_everything check (octet_length(data) < 0) not valid',
    );
    expect((await post('/tool/v1/consents', consent())).status).toBeGreaterThanOrEqual(500);
    await app.superuser.query('alter table event_log.events drop constraint refuses_everything');
    await app.superuser.query('alter table notice_contents rename to notice_contents_gone');
    expect((await get('/tool/v1/documents/cookie-policy/active')).status).toBe(500);
    await app.superuser.query('alter table notice_contents_gone rename to notice_contents');
    const { rows } = await app.superuser.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'rm\\_consents\\_%'`,
    );
    for (const { name } of z.array(z.object({ name: z.string() })).parse(rows)) {
      await app.superuser.query(`alter table ${name} add constraint refuses_everything check (false) not valid`);
    }
    expect((await post('/tool/v1/consents', consent())).status).toBe(202);
    await until(() => app.log().includes('projection stopped'));
    expect(app.log()).toContain('a request failed');
    expectSilence();
  });
});
