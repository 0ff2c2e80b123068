import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { copyLog } from '../../../src/pipeline/event-log/copy-log.js';
import { LedgerHeadMissing, LedgerHeadUnreadable, LedgerRolledBack } from '../../../src/pipeline/ledger/errors.js';
import {
  acceptRestoredLedger,
  adoptLedger,
  assertMaySign,
  type LedgerHeadFile,
  openLedgerHeadFile,
  rememberHead,
} from '../../../src/pipeline/ledger/ledger-head.js';
import { readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import {
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  until,
  whileRunning,
} from '../relay/pipeline.js';

let pipeline: Pipeline;
let restored: Pipeline;
let folder: string;
let file: LedgerHeadFile;
const signer = newSigner();
beforeEach(async () => {
  [pipeline, restored] = await Promise.all([startPipeline(), startPipeline()]);
  folder = await mkdtemp(join(tmpdir(), 'ledger-head-'));
  file = openLedgerHeadFile(join(folder, 'kept', 'ledger-head.json'));
});
afterEach(async () => {
  await Promise.all([pipeline.close(), restored.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function sealOne({ worker: pool, eventLog }: Pipeline): Promise<void> {
  const site = randomUUID();
  await eventLog.append(consentsStream(site), -1, [newConsent(site)]);
  const { size } = await readLedgerState(pool);
  const sealer = createSealer({
    ...{ db: pool, eventLog, keyring: testKeyring, logger: silent, signer },
    limits: { maxLeaves: 1, maxAgeMs: 10 },
    pollMs: 10,
    rememberHead: (state) => rememberHead(pool, file, state),
  });
  await whileRunning([sealer], () => until(async () => (await readLedgerState(pool)).size > size));
}

const check = ({ worker, eventLog }: Pipeline) => assertMaySign(worker, eventLog, file);

test('refuses a ledger restored from an older backup until an operator accepts it, and records that', async () => {
  await check(pipeline);
  await sealOne(pipeline);
  await copyLog(pipeline.eventLog, restored.eventLog);
  await check(restored);
  await sealOne(pipeline);
  await check(pipeline);
  expect(JSON.parse(await readFile(file.path, 'utf8'))).toMatchObject({ v: 1, size: 2 });
  expect(await acceptRestoredLedger(pipeline.worker, pipeline.eventLog, file)).toBeNull();

  await expect(check(restored)).rejects.toThrow(LedgerRolledBack);
  const { root } = (await file.read()) ?? {};
  expect(await acceptRestoredLedger(restored.worker, restored.eventLog, file)).toMatchObject({ lostFromSize: 1 });
  const last = (await restored.eventLog.readStream(LEDGER_STREAM, 0, 100)).at(-1);
  expect(last?.type).toBe(LEDGER_RESTORED);
  expect(JSON.parse(new TextDecoder().decode(last?.data))).toMatchObject({
    lost_from_size: 1,
    head: { size: 2, root },
  });
  await check(restored);
  await sealOne(restored);
  await check(restored);
  // The other history has the same length, but a different root.
  await expect(check(pipeline)).rejects.toThrow(LedgerRolledBack);
});

test('refuses to sign for a ledger whose head is unknown, until an operator adopts it', async () => {
  await sealOne(pipeline);
  await rm(file.path);
  await expect(check(pipeline)).rejects.toThrow(LedgerHeadMissing);
  await expect(file.read()).resolves.toBeNull();

  const { worker, eventLog } = pipeline;
  const failing = () => Promise.reject(new Error('not recorded'));
  await expect(adoptLedger(worker, eventLog, file, failing)).rejects.toThrow('not recorded');
  await expect(check(pipeline)).rejects.toThrow(LedgerHeadMissing);

  const recorded: number[] = [];
  const record = async ({ size }: { readonly size: number }) => void recorded.push(size);
  expect(await adoptLedger(worker, eventLog, file, record)).toMatchObject({ size: 1 });
  await check(pipeline);
  expect(await adoptLedger(worker, eventLog, file, record)).toBeNull();
  expect(recorded).toEqual([1]);
});

test('refuses to sign with a head file that is damaged', async () => {
  await check(pipeline);
  for (const text of ['', '{"v":1', JSON.stringify({ ...(await file.read()), size: -1 })]) {
    await writeFile(file.path, text);
    await expect(check(pipeline), text).rejects.toThrow(LedgerHeadUnreadable);
  }
});

test('refuses to continue with an unreadable head file', async () => {
  await sealOne(pipeline);
  const { worker, eventLog } = pipeline;
  await expect(assertMaySign(worker, eventLog, openLedgerHeadFile(folder))).rejects.toThrow('EISDIR');
});
