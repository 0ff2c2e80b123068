import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { copyLog } from '../../../src/pipeline/event-log/copy-log.js';
import { RevisionConflict } from '../../../src/pipeline/event-log/errors.js';
import { NO_STREAM } from '../../../src/pipeline/event-log/port.js';
import { ledgerEvent } from '../../../src/pipeline/ledger/append-to-ledger.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerHeadMissing, LedgerHeadUnreadable, LedgerRolledBack } from '../../../src/pipeline/ledger/errors.js';
import { type LedgerHead, type LedgerHeadFile, openLedgerHeadFile } from '../../../src/pipeline/ledger/head-file.js';
import {
  createLedgerGuard,
  guardLedgerAppends,
  type LedgerGuard,
  type LedgerMemory,
} from '../../../src/pipeline/ledger/ledger-guard.js';
import { ledgerSignerOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { readLedgerRoot, readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { acceptRestoredLedger, adoptLedger } from '../../../src/pipeline/ledger/repair-ledger.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { MemoryLogServer, openMemoryLog } from '../../reliability/one-process/memory-log.js';
import { until } from '../../support/wait.js';
import {
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
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

const guardOf = ({ worker: db, eventLog }: Pipeline, memory: LedgerMemory = { head: null }): LedgerGuard =>
  createLedgerGuard({ db, file, memory, eventLog });

/** Seals one batch, as a worker without a guard does unless there is one. */
async function sealOne({ worker: pool, eventLog }: Pipeline, guard?: LedgerGuard): Promise<void> {
  const site = randomUUID();
  await eventLog.append(consentsStream(site), -1, [newConsent(site)]);
  const { size } = await readLedgerState(pool);
  const sealer = createSealer({
    db: pool,
    keyring: testKeyring,
    logger: silent,
    signer,
    eventLog: guard === undefined ? eventLog : guardLedgerAppends(eventLog, guard),
    limits: { maxLeaves: 1, maxAgeMs: 10 },
    pollMs: 10,
  });
  await whileRunning([sealer], () => until(async () => (await readLedgerState(pool)).size > size));
}

/** Compares as a newly started process does. */
async function check(of: Pipeline): Promise<void> {
  await catchUpLedger(of.worker, of.eventLog);
  await guardOf(of).check();
}

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

async function headAt({ worker: db }: Pipeline): Promise<LedgerHead> {
  const { size, revision } = await readLedgerState(db);
  const root = toHex(await readLedgerRoot(db, size));
  return { v: 1, size, root, revision, key: null, written_at: new Date().toISOString() };
}

/** Two ledgers that agree in their first batch, and that the file does not know further. */
async function fork(): Promise<void> {
  await check(pipeline);
  await sealOne(pipeline);
  await check(pipeline);
  await copyLog(pipeline.eventLog, restored.eventLog);
  await check(restored);
}

test('never replaces a head that the ledger does not continue, however long the ledger has become', async () => {
  await fork();
  await sealOne(pipeline);
  await check(pipeline);
  const head = await file.read();
  for (let batches = 0; batches < 3; batches += 1) await sealOne(restored);
  await expect(check(restored)).rejects.toThrow(LedgerRolledBack);
  expect(await file.read()).toEqual(head);
});

test('compares before each append to the ledger and before each signature', async () => {
  await fork();
  const guard = guardOf(restored);
  const guarded = ledgerSignerOf(
    signingKeyOf({ ...newSigningKey('test'), ownerId: null, retiredAt: null }),
    signer.origin,
    guard,
  );
  await guarded.signText('text\n');
  await sealOne(restored, guard);
  expect((await readLedgerState(restored.worker)).size).toBe(2);

  // The other history was sealed beside it, and was remembered first.
  await sealOne(pipeline);
  await file.write(await headAt(pipeline));
  await expect(guarded.signText('text\n')).rejects.toThrow(LedgerRolledBack);
  const log = guardLedgerAppends(restored.eventLog, guard);
  const { revision } = await readLedgerState(restored.worker);
  const event = ledgerEvent(LEDGER_RESTORED, {});
  await expect(log.append(LEDGER_STREAM, revision, [event])).rejects.toThrow(LedgerRolledBack);
  await expect(log.appendAll([{ stream: LEDGER_STREAM, expectedRevision: revision, events: [event] }])).rejects.toThrow(
    LedgerRolledBack,
  );
  expect(await restored.eventLog.lastRevision(LEDGER_STREAM)).toBe(revision);
});

test('appends nothing in the place of events that the log lost', async () => {
  const guard = guardOf(pipeline);
  await guard.check();
  await sealOne(pipeline, guard);
  const emptied = guardLedgerAppends(openMemoryLog(new MemoryLogServer()), guard);
  const events = [ledgerEvent(LEDGER_RESTORED, {})];
  await expect(emptied.append(LEDGER_STREAM, NO_STREAM, events)).rejects.toThrow(RevisionConflict);
  const append = { stream: LEDGER_STREAM, expectedRevision: NO_STREAM, events };
  await expect(emptied.appendAll([append])).rejects.toThrow(RevisionConflict);
  expect(await emptied.lastRevision(LEDGER_STREAM)).toBe(NO_STREAM);
});

test('compares with what the process itself has seen, without the file', async () => {
  const memory: LedgerMemory = { head: null };
  const watching = ({ worker: db }: Pipeline) => createLedgerGuard({ db, file: null, memory, eventLog: null });
  await fork();
  await watching(restored).check();
  await sealOne(pipeline);
  await watching(pipeline).check();
  await expect(watching(restored).check()).rejects.toThrow(LedgerRolledBack);
  // A ledger of the same length, and a longer one, are other ledgers all the same.
  for (let batches = 0; batches < 2; batches += 1) {
    await sealOne(restored);
    await expect(watching(restored).check()).rejects.toThrow(LedgerRolledBack);
  }
  await watching(pipeline).check();
});

test('remembers the head that the log gives, and not that of nodes which are wrong for a moment', async () => {
  const alter = async (): Promise<void> => {
    await pipeline.owner.query(`begin; set local session_replication_role = replica;
      update ledger_nodes set hash = set_byte(hash, 0, get_byte(hash, 0) # 1) where level = 1; commit`);
  };
  const memory: LedgerMemory = { head: null };
  const guard = guardOf(pipeline, memory);
  await guard.check();
  await sealOne(pipeline);
  await guard.check();
  await sealOne(pipeline);
  const { root, size } = await headAt(pipeline);
  await alter();
  await guard.check();
  expect(memory.head).toMatchObject({ size, root });
  expect(await file.read()).toMatchObject({ size, root });
  await expect(guard.check()).rejects.toThrow(LedgerRolledBack);
  await alter();
  await guard.check();
});

test('lets one of two ledgers pass that reach the same size at the same time', async () => {
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([pipeline.close(), restored.close()]);
    [pipeline, restored] = await Promise.all([startPipeline(), startPipeline()]);
    await rm(file.path, { force: true });
    await fork();
    await Promise.all([sealOne(pipeline), sealOne(restored)]);
    const outcomes = await Promise.allSettled([guardOf(pipeline).check(), guardOf(restored).check()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  }
});

test('goes on after a process that died while it wrote the head', async () => {
  await check(pipeline);
  await writeFile(`${file.path}.lock`, 'somebody');
  await sealOne(pipeline);
  await check(pipeline);
  expect(await file.read()).toMatchObject({ size: 1 });
});

test('refuses to sign for a ledger whose head is unknown, until an operator adopts it', async () => {
  await sealOne(pipeline);
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
  const guard = createLedgerGuard({
    db: worker,
    file: openLedgerHeadFile(folder),
    memory: { head: null },
    eventLog,
  });
  await expect(guard.check()).rejects.toThrow('EISDIR');
});
