import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { ConsentResponse } from '../../../schemas/api/consents.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { memorySource, verifyPackage } from '../../../verifier-cli/src/index.js';
import { verifiedPromise } from '../../support/independent-promise.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { until } from '../../support/wait.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';

const CONSENTS = '/tool/v1/consents';

let app: RunningApp;
let demo: SeededDemo;
let accepted: z.infer<typeof ConsentResponse>['data'];

beforeAll(async () => {
  app = await startApp('serve', { PUBLIC_VERIFY_LIMIT: '10000', BATCH_MAX_AGE_MS: '300', STAMP_INTERVAL_MS: '300' });
  demo = await app.seed();
});
afterAll(() => app?.stop());

const receipt = (token: string): Promise<Answer> => ask(`${app.url}/api/v1/public/consents/${token}/receipt`);

/** Asks until a time stamp covers the record. */
function stampedReceipt(token: string): Promise<Answer> {
  return until(async () => {
    const answer = await receipt(token);
    if (answer.status === 200) return answer;
    expect([404, 409]).toContain(answer.status);
    if (answer.status === 409) expect(answer.headers.get('retry-after')).toBe('60');
    return null;
  }, 100);
}

function verify(content: unknown) {
  const lines = readFileSync(join(app.service.installation.config.dataDir, 'ledger.vkey'), 'utf8').split('\n');
  const key = parseVerifierKey(lines[0] ?? '');
  if (key === null || accepted.promise === null) throw new Error('there is no key or no promise');
  verifiedPromise(accepted.promise, key.publicKey);
  const bytes = Buffer.from(JSON.stringify(content));
  const promises = [{ file: 'promise.json', promise: accepted.promise }];
  return verifyPackage(memorySource(bytes), { trustAnchors: [], ledgerKeys: [key], promises, at: new Date() });
}

const failed = ({ checks }: Awaited<ReturnType<typeof verify>>) => checks.filter(({ outcome }) => outcome === 'fail');

it('gives the holder of a consent token a receipt that keeps the promise', async () => {
  const version = demo.documents
    .find(({ slug }) => slug === 'cookie-policy')
    ?.versions.find(({ state }) => state === 'active');
  const body = JSON.stringify({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: version?.id,
    language: version?.language,
    visitor_id: 'visitor-of-the-receipt',
  });
  const headers = { 'content-type': 'application/json', ...signedHeaders(demo.keys.write, CONSENTS, body) };
  const answer = await ask(app.url + CONSENTS, { method: 'POST', headers, body });
  accepted = ConsentResponse.parse(answer.body).data;
  const { body: content } = await stampedReceipt(accepted.consent_token);
  expect(JSON.stringify(content)).not.toContain('visitor-of-the-receipt');
  const report = await verify(content);
  expect(failed(report)).toEqual([]);
  expect(report.promises.map(({ outcome }) => outcome)).toEqual(['kept']);
});

it('answers 404 for an unknown record and for a text that is no token', async () => {
  for (const token of [consentToken('00000000-0000-7000-8000-000000000000'), 'ct_1', 'x']) {
    const { status, body } = await receipt(token);
    expect({ status, body }).toMatchObject({ status: 404, body: { code: 'CONSENT_NOT_FOUND' } });
  }
});

it('gives a backend a receipt with chosen values, and notes it in the audit log', async () => {
  const login = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(demo.api_user),
  };
  const tokens = TokensResponse.parse((await ask(`${app.url}/api/v1/auth/login`, login)).body).data;
  const headers = { 'x-api-key': demo.keys.read, authorization: `Bearer ${tokens.access_token}` };
  const path = `${app.url}/tool/v1/s2s/consents/${accepted.consent_token}/receipt`;
  const plain = await ask(path, { headers });
  expect({ status: plain.status, withheld: (await verify(plain.body)).records.disclosed_values }).toEqual({
    status: 200,
    withheld: 0,
  });
  const chosen = await ask(`${path}?disclose=visitor_id`, { headers });
  const report = await verify(chosen.body);
  expect(failed(report)).toEqual([]);
  expect(report.records.disclosed_values).toBe(1);
  expect((await ask(`${path}?disclose=shoe_size`, { headers })).status).toBe(422);
  const { rowCount } = await app.superuser.query(`select from audit_log where action = 'consent.export'`);
  expect(rowCount).toBe(1);
});
