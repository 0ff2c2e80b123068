import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { ConsentLedger, IdempotencyConflict, PERSONAL_FIELDS } from '../../../sdk/node/src/index.js';
import { VERSION } from '../../../sdk/node/src/version.js';
import type { Consent, ExportedConsent, ExportedErasure } from '../../../sdk/shared/types.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { ask, type RunningApp, startApp } from '../../api/server/running-app.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { eventually } from '../../support/wait.js';
import { FaultyFront } from '../faulty-front.js';

describe('the SDK for Node', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let front: FaultyFront;
  let ledger: ConsentLedger;
  let version: string;
  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed();
    front = await FaultyFront.open(app.url);
    ledger = make();
    version = (await ledger.document('cookie-policy', 'en')).version.id;
  });
  afterAll(async () => {
    await front.close();
    await app.stop();
  });
  beforeEach(() => {
    front.received.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const make = (options: Partial<ConstructorParameters<typeof ConsentLedger>[0]> = {}): ConsentLedger =>
    new ConsentLedger({
      baseUrl: front.url,
      apiKey: demo.keys.write,
      user: demo.api_user,
      application: 'shop/2.1',
      ...options,
    });
  const consent = (visitor_id: string, more: Partial<Consent> = {}): Consent => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: version,
    visitor_id,
    ...more,
  });
  const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
    const found: T[] = [];
    for await (const item of items) found.push(item);
    return found;
  };
  const recorded = (visitor_id: string, count = 1) =>
    eventually(async () => {
      const records = await all(ledger.exportRecords({ visitor_id }));
      expect(records).toHaveLength(count);
      return records;
    });
  const paths = () => front.received.map(({ path }) => path);

  test('waits without a limit if the time of an attempt is infinite', async () => {
    expect(await make({ timeoutMs: Number.POSITIVE_INFINITY, attempts: 1 }).ping()).toMatchObject({ scope: 'write' });
  });

  test('reads the receipt of a record, with the values that are named', async () => {
    const { consent_token } = await ledger.record(consent('receipt-1', { signer_name: 'Ada Example' }));
    const receipt = await eventually(() => ledger.receipt(consent_token), 500);
    expect(JSON.stringify(receipt)).not.toContain('receipt-1');
    const disclosed = await ledger.receipt(consent_token, ['visitor_id', 'signer_name']);
    expect(JSON.stringify(disclosed).length).toBeGreaterThan(JSON.stringify(receipt).length);
    await expect(ledger.receipt(`ct_${'0'.repeat(32)}`)).rejects.toMatchObject({ code: 'CONSENT_NOT_FOUND' });
  });

  test('exports evidence, and downloads the package', async () => {
    await ledger.record(consent('evidence-1'));
    const started = await ledger.startEvidenceExport({ filter: { consent_type: 'cookie' } });
    expect(started).toMatchObject({ disclose: 'none', filter: { consent_type: 'cookie' } });
    await eventually(async () => expect((await ledger.evidenceExport(started.id)).state).toBe('finished'), 500);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await ledger.evidencePackage(started.id)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    expect(bytes.subarray(0, 2).toString('latin1')).toBe('PK');
    expect(bytes.length).toBe((await ledger.evidenceExport(started.id)).package?.bytes);
    const unknown = '00000000-0000-4000-8000-000000000000';
    await expect(ledger.evidencePackage(unknown)).rejects.toMatchObject({ status: 404 });
  });

  test('records over the S2S route: the person’s address where it is given, never that of the backend', async () => {
    const { consent_token, duplicate, promise } = await ledger.record(
      consent('person-1', { ip_address: '192.0.2.7', user_agent: 'Person/1.0' }),
    );
    expect({ duplicate, promise }).toEqual({ duplicate: false, promise: expect.objectContaining({ index: 0 }) });
    await ledger.record(consent('person-2'));
    expect(await recorded('person-1')).toMatchObject([
      { consent_token, channel: 's2s', ip_address: '192.0.2.7', user_agent: 'Person/1.0', source: 'server' },
    ]);
    expect(await recorded('person-2')).toMatchObject([{ channel: 's2s', ip_address: null, user_agent: null }]);
    expect(front.received.at(-1)?.headers['user-agent']).toBe(
      `shop/2.1 consent-ledger-node/${VERSION} node/${process.versions.node}`,
    );
  });

  test('a lost answer, 503 and 429: the same body, signed anew, and one record', async () => {
    front.inject(
      'lost',
      { status: 503, code: 'ADMISSION_UNAVAILABLE', headers: { 'retry-after': '0' } },
      { status: 429, code: 'RATE_LIMIT_EXCEEDED', headers: { 'retry-after': '0' } },
    );
    const { duplicate } = await ledger.record(consent('person-3'));
    expect(duplicate).toBe(true);
    expect(front.received).toHaveLength(4);
    expect(new Set(front.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(front.received.map(({ headers }) => headers['x-nonce'])).size).toBe(4);
    await recorded('person-3');
  });

  test('a wait that is longer than permitted, and other 4xx, end the attempts', async () => {
    front.inject({ status: 429, code: 'CONSENT_LIMIT_EXCEEDED', headers: { 'retry-after': '86400' } });
    await expect(ledger.record(consent('person-4'))).rejects.toMatchObject({
      code: 'CONSENT_LIMIT_EXCEEDED',
      status: 429,
    });
    await expect(ledger.record(consent('person-4', { visitor_country: 'Turkey' }))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 422,
      errors: [{ field: 'visitor_country', message: expect.any(String) }],
    });
    expect(front.received).toHaveLength(2);
  });

  test('a key that was used with another consent is an error, which has the first acceptance', async () => {
    const key = { idempotency_key: `key-${randomUUID()}` };
    const { consent_token } = await ledger.record(consent('person-20', key));
    const withdrawn = consent('person-20', { ...key, decision: 'withdrawn' });
    const conflict = await ledger.record(withdrawn).catch((error: unknown) => error);
    expect(conflict).toBeInstanceOf(IdempotencyConflict);
    expect(conflict).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      message: expect.stringContaining('was not recorded'),
      acceptance: { consent_token, duplicate: true },
    });
    expect(await make({ acceptsConflicts: true }).record(withdrawn)).toMatchObject({ consent_token });
    // Another order of members is no other consent.
    const { decision, ...rest } = consent('person-20', key);
    expect(await ledger.record({ ...rest, decision })).toMatchObject({ consent_token, duplicate: true });
    const { results } = await ledger.recordBatch([withdrawn]);
    expect(results).toMatchObject([{ status: 'accepted', warnings: [{ field: 'idempotency_key' }] }]);
  });

  test('what cannot succeed is not sent again, and a key of another form not at all', async () => {
    // So many attempts would take longer than the test may.
    const withoutTls = make({ baseUrl: front.url.replace('http:', 'https:'), attempts: 500 });
    const message = expect.stringContaining('(ERR_SSL_');
    await expect(withoutTls.ping()).rejects.toMatchObject({ code: 'NO_ANSWER', message });
    expect(() => make({ apiKey: 'svc_live_short' })).toThrow(TypeError);
  });

  test('a wrong clock is corrected by the time of the service', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 7_200_000 });
    const clock = make();
    await clock.record(consent('person-5'));
    expect(paths().filter((path) => path === '/tool/v1/s2s/consents')).toHaveLength(2);
    await clock.record(consent('person-5'));
    expect(paths().filter((path) => path === '/tool/v1/s2s/consents')).toHaveLength(3);
  });

  test('signs in once for requests that come together, renews a token that ended, and signs out', async () => {
    const own = make();
    await Promise.all([1, 2, 3].map(() => own.record(consent('person-6'))));
    expect(paths().filter((path) => path === '/api/v1/auth/login')).toHaveLength(1);
    front.inject({ status: 401, code: 'INVALID_BEARER_TOKEN' });
    await own.record(consent('person-6'));
    expect(paths().filter((path) => path.startsWith('/api/v1/auth/'))).toEqual([
      '/api/v1/auth/login',
      '/api/v1/auth/refresh',
    ]);
    await own.signOut();
    await own.record(consent('person-6'));
    expect(
      paths()
        .filter((path) => path.startsWith('/api/v1/auth/'))
        .slice(2),
    ).toEqual(['/api/v1/auth/logout', '/api/v1/auth/login']);
    await recorded('person-6', 5);
  });

  test('signs in again if the sign-in was ended at the service', async () => {
    const own = make();
    await own.record(consent('person-7'));
    const signIn = await ask(`${app.url}/api/v1/auth/login`, json(demo.api_user));
    const { data } = TokensResponse.parse(signIn.body);
    const everywhere = json({ everywhere: true }, { authorization: `Bearer ${data.access_token}` });
    expect(await ask(`${app.url}/api/v1/auth/logout`, everywhere)).toMatchObject({ status: 200 });
    await eventually(async () => {
      await own.record(consent('person-7'));
      expect(paths().filter((path) => path === '/api/v1/auth/login')).toHaveLength(2);
    });
    // The sign-in of the client that the tests share was ended as well.
    ledger = make();
    await ledger.erasures()[Symbol.asyncIterator]().next();
  });

  test('a wrong password and a method without a user are refused with a code', async () => {
    const wrong = make({ user: { email: demo.api_user.email, password: 'wrong password' } });
    await expect(wrong.record(consent('person-8'))).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS', status: 401 });
    const without = make({ user: undefined });
    expect(await without.ping()).toMatchObject({ site_id: demo.site.id, scope: 'write' });
    await expect(without.record(consent('person-8'))).rejects.toMatchObject({ code: 'MISSING_BEARER_TOKEN' });
  });

  test('a batch: each result in order', async () => {
    const { accepted, rejected, results } = await ledger.recordBatch([
      consent('person-9'),
      consent('person-9', { consent_type: 'document_approval', document_version_id: version }),
    ]);
    expect({ accepted, rejected }).toEqual({ accepted: 2, rejected: 0 });
    expect(results.map(({ index, status }) => [index, status])).toEqual([
      [0, 'accepted'],
      [1, 'accepted'],
    ]);
  });

  test('an outdated version is not sent again; one that is active is', async () => {
    const retired = demo.documents[0]?.versions.find(({ state }) => state === 'retired')?.id ?? '';
    await expect(ledger.record(consent('person-10', { document_version_id: retired }))).rejects.toMatchObject({
      code: 'CONFIG_OUTDATED',
    });
    expect(front.received).toHaveLength(1);
    front.inject({ status: 409, code: 'CONFIG_OUTDATED' });
    await ledger.record(consent('person-10'));
    expect(front.received).toHaveLength(3);
    await recorded('person-10');
  });

  test('approval token, status, verification', async () => {
    const form = await ledger.document('explicit-consent', 'en');
    const minted = await ledger.mintApprovalToken({
      document_version_id: form.version.id,
      subject: 'person-11',
      signer_name: 'Ada Example',
    });
    const approval = {
      consent_type: 'document_approval',
      decision: 'accepted',
      document_version_id: form.version.id,
    } as const;
    const { consent_token, proof_hash } = await ledger.record({ ...approval, approval_token: minted.approval_token });
    expect(await recorded('person-11')).toMatchObject([
      {
        approval_token_id: minted.approval_token_id,
        identity_assurance: 'tenant_attested',
        signer_name: 'Ada Example',
      },
    ]);
    expect(await ledger.status({ visitor_id: 'person-11', document_slug: 'explicit-consent' })).toMatchObject([
      { consent_token },
    ]);
    expect(await ledger.verify(consent_token)).toMatchObject({ valid: true, data: { proof_hash } });
    expect(await ledger.verify(randomUUID())).toBeNull();
  });

  test('a person token vouches for the person of one choice of the account, and reads it', async () => {
    await expect(ledger.personToken('person-21')).rejects.toMatchObject({ code: 'ACCOUNTS_OFF', status: 409 });
    await turnAccountsOn(app, demo.site.id, null);
    const { person_token, person_token_id } = await eventually(() => ledger.personToken('person-21'));
    const { consent_token } = await ledger.record({
      ...{ consent_type: 'cookie', decision: 'rejected', document_version_id: version },
      person_token,
    });
    const ofBackend = await ledger.record(consent('person-21', { scope: 'account' }));
    await ledger.record(consent('person-21'));
    expect(await recorded('person-21', 3)).toMatchObject([
      { consent_token, scope: 'account', approval_token_id: person_token_id },
      { consent_token: ofBackend.consent_token, scope: 'account', approval_token_id: null },
      { scope: 'device' },
    ]);
    const query = { visitor_id: 'person-21' };
    expect(await ledger.status(query)).toHaveLength(3);
    expect(await ledger.status(query, person_token)).toMatchObject([
      { consent_token: ofBackend.consent_token, asked: [['analytics', 'marketing'], expect.any(Array)], exempt: [] },
      { consent_token },
    ]);
    expect(front.received.at(-1)?.path).not.toContain(person_token);
    await expect(ledger.record(consent('person-21', { person_token }))).rejects.toMatchObject({
      code: 'PERSON_TOKEN_CONFLICT',
    });
  });

  test('a copy of the records follows recordings and erasures by cursor', async () => {
    await ledger.record(consent('person-12'));
    await ledger.record(consent('person-13'));
    const copy = new Map<string, ExportedConsent>();
    let cursor: string | undefined;
    const follow = async () => {
      for await (const change of ledger.exportChanges(cursor === undefined ? {} : { cursor })) {
        cursor = change.cursor;
        apply(copy, change);
      }
    };
    const names = () => [...copy.values()].map(({ visitor_id }) => visitor_id);
    await eventually(async () => {
      await follow();
      expect(names()).toEqual(expect.arrayContaining(['person-12', 'person-13']));
    });
    const { state, id } = await ledger.erase({ subject: { by: 'visitor_id', value: 'person-12' } });
    expect(['pending', 'finished']).toContain(state);
    await eventually(async () => {
      await follow();
      expect(names()).not.toContain('person-12');
    });
    expect(names()).toContain('person-13');
    await eventually(async () =>
      expect(await ledger.erasure(id)).toMatchObject({ state: 'finished', erased_records: 1 }),
    );
    expect(await all(ledger.erasures())).toHaveLength(1);
  });

  test('a copy takes the fields that it needs, and learns of erasures nevertheless', async () => {
    await ledger.record(consent('person-15', { signer_name: 'Ada Example' }));
    await recorded('person-15');
    const fields = ['id', 'visitor_id'] as const;
    const before = await all(ledger.exportRecords({ visitor_id: 'person-15', fields }));
    expect(before).toEqual([{ id: expect.any(String), visitor_id: 'person-15', cursor: expect.any(String) }]);
    const [{ id, cursor } = { id: undefined, cursor: '' }] = before;
    await ledger.erase({ subject: { by: 'visitor_id', value: 'person-15' } });
    await eventually(async () => {
      const changes = await all(ledger.exportChanges({ cursor, fields }));
      expect(changes.map((change) => 'erased_record' in change && change.erased_record.id)).toContain(id);
    });
    const [after] = await all(ledger.exportRecords({ document_slug: 'cookie-policy', fields: ['id', 'signer_name'] }));
    expect(Object.keys(after ?? {}).sort()).toEqual(['cursor', 'id', 'signer_name']);
    const [erased] = (await all(ledger.exportRecords())).filter((record) => record.id === id);
    expect(PERSONAL_FIELDS.filter((name) => Reflect.get(erased ?? {}, name) !== null)).toEqual([]);
    expect(PERSONAL_FIELDS).toContain('signer_name');
  });

  test('scans a page once: a lost answer is not repeated, a busy service is asked again', async () => {
    const refused = { code: 'SCAN_URL_REFUSED', status: 422 };
    front.inject({ status: 503, code: 'SCANNER_BUSY', headers: { 'retry-after': '0' } });
    await expect(ledger.scan('https://elsewhere.example/')).rejects.toMatchObject(refused);
    expect(paths()).toEqual(['/tool/v1/scans', '/tool/v1/scans']);
    front.received.length = 0;
    front.inject('lost');
    await expect(ledger.scan('https://elsewhere.example/', { record: true })).rejects.toMatchObject({
      code: 'NO_ANSWER',
    });
    front.inject({ status: 502 });
    await expect(ledger.scan('https://elsewhere.example/')).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    expect(front.received.map(({ body }) => JSON.parse(body))).toEqual([
      { url: 'https://elsewhere.example/', record: true, signal: false },
      { url: 'https://elsewhere.example/', record: false, signal: false },
    ]);
    expect(front.received[0]?.headers.authorization).toBeUndefined();
  });

  test('an answer of another server is named as such', async () => {
    const other = make({ baseUrl: `${front.url}/elsewhere`, attempts: 1 });
    await expect(other.ping()).rejects.toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    front.inject({ status: 301, headers: { location: 'https://elsewhere.example/' } });
    await expect(ledger.record(consent('person-14'))).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 301 });
    expect(() => make({ baseUrl: 'consent.example' })).toThrow(TypeError);
    const nothing = make({ baseUrl: 'http://127.0.0.1:1', attempts: 1 });
    await expect(nothing.ping()).rejects.toMatchObject({ code: 'NO_ANSWER', status: 0, cause: expect.any(Error) });
  });
});

function apply(copy: Map<string, ExportedConsent>, change: ExportedConsent | ExportedErasure): void {
  if ('erased_record' in change) copy.delete(change.erased_record.id);
  else copy.set(change.id, change);
}

function json(content: object, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(content) };
}
