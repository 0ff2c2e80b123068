import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLoadGate } from '../../../src/api/guards/load-gate.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { postSigned } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const MAX_IN_PROGRESS = 30;
const TOO_MANY = 40;

let app: RunningApp;
let demo: SeededDemo;
let versionId: string;
beforeAll(async () => {
  app = await startApp('serve', { ADMISSION_MAX_IN_PROGRESS: String(MAX_IN_PROGRESS) });
  demo = await app.seed();
  const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
  versionId = policy?.versions.find(({ language, state }) => language === 'en' && state === 'active')?.id ?? '';
});
afterAll(() => app.stop());

async function post(
  visitor: number,
): Promise<{ visitor: number; status: number; retryAfter: string | null; body: unknown }> {
  const response = await postSigned(app.url, demo.keys.write, '/tool/v1/consents', {
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: versionId,
    idempotency_key: `overload-${visitor}`,
    visitor_id: `visitor-${visitor}`,
  });
  const body: unknown = await response.json();
  return { visitor, status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

it('refuses what exceeds the work of the process at once, and loses nothing that it accepted', async () => {
  const locker = await app.superuser.connect();
  await locker.query('begin; lock table event_log.waiting in exclusive mode');
  const answers: Awaited<ReturnType<typeof post>>[] = [];
  const sent = Array.from({ length: MAX_IN_PROGRESS + TOO_MANY }, async (_, visitor) => {
    answers.push(await post(visitor));
  });
  // No consent can be stored, so that only refusals are answered.
  await expect.poll(() => answers.length).toBe(TOO_MANY);
  for (const { status, retryAfter, body } of answers) {
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'QUEUE_OVERLOADED' } });
    expect(Number(retryAfter)).toBeGreaterThan(0);
  }
  const refused = answers.map(({ visitor }) => visitor);
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  await locker.query('rollback');
  locker.release();
  await Promise.all(sent);
  // A line for each refusal would cost an overloaded process more than the refusal.
  expect(app.log().split('QUEUE_OVERLOADED').length - 1).toBeLessThan(TOO_MANY / 4);
  expect(app.log()).toContain('requests were refused');
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(MAX_IN_PROGRESS);

  for (const visitor of refused) expect((await post(visitor)).status).toBe(202);
  const logged = async (): Promise<number | null> =>
    (await app.superuser.query(`select from event_log.events where type = 'ConsentRecorded.v1'`)).rowCount;
  await expect.poll(logged).toBe(MAX_IN_PROGRESS + TOO_MANY);
});

it('counts work until it ends, also if it fails', async () => {
  let refusals = 0;
  const gate = createLoadGate({ maxInProgress: 1, isFull: () => false, onRefused: () => (refusals += 1) });
  let finish = (): void => undefined;
  const first = gate.pass(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  await expect(gate.pass(async () => 'second')).rejects.toMatchObject({ code: 'QUEUE_OVERLOADED' });
  expect(refusals).toBe(1);
  finish();
  await first;
  await expect(gate.pass(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await gate.pass(async () => 'third')).toBe('third');
});

it('lets in a tenth while the outbox is full', async () => {
  let full = false;
  const gate = createLoadGate({ maxInProgress: 20, isFull: () => full, onRefused: () => undefined });
  const work = () => new Promise<void>(() => undefined);
  const refusals: unknown[] = [];
  const begin = () => gate.pass(work).catch((error: unknown) => refusals.push(error));
  full = true;
  for (let i = 0; i < 3; i += 1) void begin();
  await expect.poll(() => refusals.length).toBe(1);
  full = false;
  for (let i = 0; i < 19; i += 1) void begin();
  await expect.poll(() => refusals.length).toBe(2);
});
