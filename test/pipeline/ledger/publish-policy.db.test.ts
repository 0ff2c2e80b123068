import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { consentsStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { LogBehind } from '../../../src/pipeline/event-log/errors.js';
import { ensurePolicySet, type PolicySettings } from '../../../src/pipeline/ledger/policy.js';
import { assertLogWhole } from '../../../src/pipeline/relay/log-check.js';
import { recoverLog } from '../../../src/pipeline/relay/recover-log.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { noteKey } from '../../support/independent-tlog.js';
import { until } from '../../support/wait.js';
import {
  count,
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  whileRunning,
} from '../relay/pipeline.js';

const SETTINGS: PolicySettings = { sealWithinSeconds: 600, stampWithinSeconds: 3600 };
const now = () => new Date('2026-03-01T10:00:00.000Z');

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
});
afterEach(() => pipeline.close());

async function policies(log = pipeline.eventLog) {
  const events = await log.readStream(POLICY_STREAM, 0, 100);
  return events.map(({ type, data }) =>
    parseRecord('LedgerPolicySet.v1', parseBody(PublicEventBody, type, data).record),
  );
}

test('the first start publishes the configured policy, and the next one adds nothing', async () => {
  const set = () => ensurePolicySet(pipeline.worker, pipeline.eventLog, SETTINGS, now);
  expect([await set(), await set()]).toEqual([1, 1]);
  expect(await policies()).toMatchObject([
    {
      number: 1,
      created_at: '2026-03-01T10:00:00.000Z',
      seal_within_seconds: 600,
      stamp_within_seconds: 3600,
      stamps: 1,
      witnesses: [],
      witnesses_required: 0,
      tree_hash: 'sha256',
    },
  ]);
});

test('a changed policy is published once, and so are a return to an older one and what the operator states', async () => {
  const strict = { ...SETTINGS, stampWithinSeconds: 300 };
  const qualified = [{ organization: 'Example Trust', trusted_list: 'https://tl.example/at' }];
  const named = { ...SETTINGS, stated: { operator: { legal_name: 'Example Ledger GmbH' } } };
  const both = { ...SETTINGS, stated: { ...named.stated, qualified_stamps: qualified } };
  for (const settings of [SETTINGS, strict, strict, SETTINGS, named, named, both, both, SETTINGS])
    await ensurePolicySet(pipeline.worker, pipeline.eventLog, settings, now);
  const all = await policies();
  expect(all.map((policy) => [policy.number, policy.stamp_within_seconds])).toEqual([
    [1, 3600],
    [2, 300],
    [3, 3600],
    [4, 3600],
    [5, 3600],
    [6, 3600],
  ]);
  expect(all.slice(3, 5)).toMatchObject([named.stated, both.stated]);
  expect(all[5]).not.toHaveProperty('operator');
});

test('a policy with witnesses is published, and the next start reads it', async () => {
  const witnesses = [noteKey('witness.example/w2', 4).vkey, noteKey('witness.example/w1', 4).vkey];
  const set = () => ensurePolicySet(pipeline.worker, pipeline.eventLog, { ...SETTINGS, witnesses }, now);
  expect([await set(), await set()]).toEqual([1, 1]);
  expect(await policies()).toMatchObject([{ witnesses: witnesses.toSorted() }]);
});

test('of processes that start at the same time, one publishes the policy', async () => {
  const starts = Array.from({ length: 6 }, () => ensurePolicySet(pipeline.worker, pipeline.eventLog, SETTINGS, now));
  expect(await Promise.all(starts)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(await policies()).toHaveLength(1);
});

test('a log that lost its policies is refused, and is filled byte for byte', async () => {
  await ensurePolicySet(pipeline.worker, pipeline.eventLog, SETTINGS, now);
  const older = await pipeline.newLog();
  await expect(ensurePolicySet(pipeline.worker, older, SETTINGS, now)).rejects.toThrow(LogBehind);
  await expect(assertLogWhole(pipeline.worker, older, { logger: silent })).rejects.toThrow(LogBehind);
  await recoverLog(pipeline.worker, older, testKeyring);
  expect(await older.readStream(POLICY_STREAM, 0, 9)).toEqual(await pipeline.eventLog.readStream(POLICY_STREAM, 0, 9));
});

test('the sealer publishes the policy and seals it in the first batch, before the first consent', async () => {
  const { worker: db, eventLog } = pipeline;
  const site = randomUUID();
  const sealer = createSealer({
    db,
    eventLog,
    keyring: testKeyring,
    logger: silent,
    signer: newSigner(),
    pollMs: 10,
    limits: { maxLeaves: 16, maxAgeMs: 50 },
    policy: SETTINGS,
  });
  await whileRunning([sealer], async () => {
    await until(async () => (await count(db, 'leaves')) === 1);
    await eventLog.append(consentsStream(site), -1, [newConsent(site)]);
    await until(async () => (await count(db, 'leaves')) === 2);
  });
  const { rows } = await db.query('select batch, stream from leaves order by batch, index');
  expect(rows).toEqual([
    { batch: 0, stream: POLICY_STREAM },
    { batch: 1, stream: consentsStream(site) },
  ]);
});

test('events are sealed within the older delays while a longer delay is not stamped', async () => {
  const { worker: db, eventLog } = pipeline;
  const site = randomUUID();
  await ensurePolicySet(db, eventLog, { sealWithinSeconds: 1, stampWithinSeconds: 1 }, now);
  const sealer = createSealer({
    db,
    eventLog,
    keyring: testKeyring,
    logger: silent,
    signer: newSigner(),
    pollMs: 10,
    limits: { maxLeaves: 16, maxAgeMs: 86_400_000 },
    policy: { sealWithinSeconds: 172_800, stampWithinSeconds: 172_800 },
  });
  await whileRunning([sealer], async () => {
    await until(async () => (await count(db, 'leaves')) === 2);
    await eventLog.append(consentsStream(site), -1, [newConsent(site)]);
    await until(async () => (await count(db, 'leaves')) === 3);
  });
});
