import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { BATCH_SEALED, CHECKPOINT_STAMPED } from '../../../schemas/events/ledger.js';
import { LEDGER_KEY_ANNOUNCED } from '../../../schemas/events/ledger-key.js';
import { LEDGER_STREAM, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { BatchHeader, batchHeaderText } from '../../../schemas/evidence/batch-header.js';
import { parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import {
  finishLedgerKeyRotation,
  openNextSigner,
  type RotationOptions,
  rotateLedgerKey,
} from '../../../src/app/rotate-ledger-key.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { ledgerEvent, tryAppendToLedger } from '../../../src/pipeline/ledger/append-to-ledger.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerKeyMismatch, LedgerRefused } from '../../../src/pipeline/ledger/errors.js';
import { ledgerSignerOf, mlDsaVerifierKeyOf, verifierKeyOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { leafOf, NOTHING_SEALED, readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { announceLedgerKey } from '../../../src/pipeline/ledger/policy.js';
import { readNote } from '../../../src/pipeline/ledger/read-checkpoints.js';
import { nextHeader } from '../../../src/pipeline/sealer/seal.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { readNewestStamp } from '../../../src/pipeline/stamper/newest-stamp.js';
import {
  checkpointNote,
  obtainStamp,
  stampCheckpoint,
  stampedEvent,
} from '../../../src/pipeline/stamper/stamp-checkpoint.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { createTimestampClient, type TimestampClient } from '../../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { memorySource, verifyPackage } from '../../../verifier-cli/src/index.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from '../../evidence/package/ledger-world.js';
import { problemsOf } from '../../evidence/package/reading-packages.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { until } from '../../support/wait.js';
import { type Fault, faultyLog } from '../relay/faulty-log.js';
import { silent, whileRunning } from '../relay/pipeline.js';

let world: LedgerWorld;
let tsa: DevelopmentTsa;
let client: TimestampClient;
let packages = 0;
const signal = new AbortController().signal;
const killed = new Error('killed');

beforeEach(async () => {
  world = await openLedgerWorld();
  tsa = await startDevelopmentTsa({ folder: join(world.folder, 'tsa') });
  client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [world.tsaRoot] });
  await world.record(world.site, [{ visitorId: 'ann' }, { visitorId: 'ben' }]);
  await world.stamp();
});
afterEach(async () => {
  await tsa.stop();
  await world.close();
});

function parts(changes: Partial<RotationOptions> = {}): RotationOptions {
  const { pipeline, keyring, tsaRoot } = world;
  const own = {
    db: pipeline.worker,
    eventLog: pipeline.eventLog,
    keyring,
    origin: ORIGIN,
    guard: UNGUARDED,
    client,
    quorum: 1,
    trustAnchors: [tsaRoot],
  };
  return { ...own, ...changes };
}

const rotate = (changes: Partial<RotationOptions> = {}) => rotateLedgerKey(parts(changes), signal);
const newSigner = () =>
  ledgerSignerOf(signingKeyOf({ ...newSigningKey('test'), ownerId: null, retiredAt: null }), ORIGIN, UNGUARDED);
const currentSigner = async () => ledgerSignerOf(await world.keyring.ledgerKey(), ORIGIN, UNGUARDED);

/** Stamps as a newly started worker does. */
async function stamp(signer = currentSigner()): Promise<void> {
  const { pipeline, tsaRoot } = world;
  const { worker: pool, eventLog } = pipeline;
  const newest = await readNewestStamp(pool, [tsaRoot], new Date());
  await stampCheckpoint(
    { db: pool, eventLog, signer: await signer, openNext: () => openNextSigner(parts()), client, quorum: 1 },
    await catchUpLedger(pool, eventLog),
    newest,
    signal,
  );
}

/** Exports the site and verifies the package with one pinned key. */
async function problemsWith(key: string): Promise<string[]> {
  const { pipeline, keyring, site, folder, tsaRoot } = world;
  packages += 1;
  const output = join(folder, `rotated-${packages}.zip`);
  const request = { siteId: site.siteId, filter: {}, disclose: 'all', output, exportedBy: 'test' } as const;
  await exportEvidence({ db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN }, request);
  const pinned = parseVerifierKey(key);
  if (pinned === null) throw new Error(`not a key: ${key}`);
  const report = await verifyPackage(memorySource(new Uint8Array(await readFile(output))), {
    trustAnchors: [tsaRoot],
    ledgerKeys: [pinned],
    maxDelay: 24 * 3_600_000,
    at: new Date(),
  });
  return [`${report.verdict}`, ...problemsOf(report)];
}

async function sealMore(): Promise<void> {
  await world.record(world.site, [{ visitorId: 'cem' }]);
  await world.relay();
  const { worker: pool, eventLog } = world.pipeline;
  const signer = await currentSigner();
  const before = (await readLedgerState(pool)).size;
  const sealer = createSealer({
    keyring: world.keyring,
    db: pool,
    eventLog,
    logger: silent,
    signer,
    limits: { maxLeaves: 8, maxAgeMs: 20 },
    pollMs: 10,
  });
  await whileRunning([sealer], () => until(async () => (await readLedgerState(pool)).size > before));
}

test('verifies packages with a key pinned before a rotation, right after it, later, and after another one', async () => {
  const pinned = verifierKeyOf(await currentSigner());
  const first = await rotate();
  expect(first.from).toBe(pinned);
  expect(verifierKeyOf(await currentSigner())).toBe(first.to);
  expect(await problemsWith(pinned)).toEqual(['valid']);
  expect(await problemsWith(first.to)).toEqual(['valid']);

  await sealMore();
  await stamp();
  expect(await problemsWith(pinned)).toEqual(['valid']);

  const second = await rotate();
  expect(second.from).toBe(first.to);
  for (const key of [pinned, first.to, second.to]) expect(await problemsWith(key), key).toEqual(['valid']);
});

test('refuses a pinned key that does not lead to the current one', async () => {
  await rotate();
  const stranger = ledgerSignerOf(await world.keyring.manifestKey(), ORIGIN, UNGUARDED);
  expect(await problemsWith(verifierKeyOf(stranger))).toEqual(expect.arrayContaining(['indeterminate']));
});

test('announces the keys in a batch of their own, and all keys sign the first checkpoint over it', async () => {
  const { worker: pool, eventLog } = world.pipeline;
  const before = await readLedgerState(pool);
  const old = await currentSigner();
  const { size, from, to } = await rotate();
  const next = await currentSigner();
  expect([from, to]).toEqual([verifierKeyOf(old), verifierKeyOf(next)]);
  expect(size).toBe(before.size + 1);
  const { rows } = await pool.query('select header from batches order by number desc limit 1');
  const [{ header }] = z.tuple([z.object({ header: z.string() })]).parse(rows);
  expect(BatchHeader.parse(JSON.parse(header))).toMatchObject({ number: before.size, count: 1, policies: 1 });
  const [announced] = await eventLog.readStream(POLICY_STREAM, 0, 10);
  expect(announced?.type).toBe(LEDGER_KEY_ANNOUNCED);
  expect(String(Buffer.from(announced?.data ?? []))).toContain(mlDsaVerifierKeyOf(next));
  const note = parseNote((await readNote(pool, size)) ?? '');
  for (const line of [old, next].flatMap((one) => [verifierKeyOf(one), mlDsaVerifierKeyOf(one)])) {
    const key = parseVerifierKey(line);
    expect(note && key && (await verifyCheckpoint(note, key))).toBe('signed');
  }

  await sealMore();
  expect((await rotate()).size).toBe(before.size + 3);
});

test('keeps a checkpoint over the announcement out of the ledger that the next keys did not sign', async () => {
  const { worker: db, eventLog } = world.pipeline;
  const signer = await currentSigner();
  await expect(rotate({ client: { stamp: () => Promise.reject(killed) } })).rejects.toThrow('killed');
  const state = await catchUpLedger(db, eventLog);
  expect(state.announced).toMatchObject({ batch: state.size - 1, revision: 0 });
  await expect(checkpointNote({ signer }, state)).rejects.toThrow(LedgerKeyMismatch);
  const note = await checkpointNote({ signer }, { ...state, announced: null });
  const stamp = await obtainStamp(client, { note, previous: null, exclude: [] }, signal);
  const event = stampedEvent(stamp, { size: state.size, note, number: 1, quorum: 1 });
  await expect(tryAppendToLedger(eventLog, state, event)).rejects.toThrow(LedgerRefused);
});

test('keeps other next keys out of the ledger than those of the announcement', async () => {
  const { worker: db, eventLog } = world.pipeline;
  const next = newSigner();
  await announceLedgerKey(db, eventLog, [verifierKeyOf(next), mlDsaVerifierKeyOf(next)], () => new Date());
  const before = await catchUpLedger(db, eventLog);
  const [event] = await eventLog.readStream(POLICY_STREAM, 0, 1);
  if (event === undefined) throw new Error('nothing was announced');
  const leaf = leafOf(event, NOTHING_SEALED, null);
  const stranger = newSigner();
  const announced = { revision: 0, key: verifierKeyOf(stranger), ml_dsa_key: mlDsaVerifierKeyOf(stranger) };
  const body = {
    header: batchHeaderText(nextHeader(before, [leaf], new Date())),
    runs: [[POLICY_STREAM, 0, 0] as [string, number, number]],
    tags: '',
    announced,
  };
  await eventLog.append(LEDGER_STREAM, before.revision, [ledgerEvent(BATCH_SEALED, body)]);
  await expect(catchUpLedger(db, eventLog, { from: before })).rejects.toThrow(
    'other next keys than the event in the log',
  );
});

test('stops a stamper with the old key, and keeps its time stamp out of the ledger', async () => {
  const old = await currentSigner();
  await rotate();
  await sealMore();
  const { worker: pool } = world.pipeline;
  const before = await readLedgerState(pool);
  await expect(stamp(Promise.resolve(old))).rejects.toThrow(LedgerKeyMismatch);
  expect(await catchUpLedger(pool, world.pipeline.eventLog)).toMatchObject(before);
});

test('restores the same keys when the tables are rebuilt from the log', async () => {
  await rotate();
  const { owner, worker: pool, eventLog } = world.pipeline;
  const keys = () =>
    owner.query(
      'select key, replaces, announced_in::int, handover_size::int from ledger_keys order by handover_size nulls first',
    );
  const before = (await keys()).rows;
  await owner.query(`
    truncate batches, sealed_events, ledger_nodes, sealed_streams, ledger_events, ledger_keys, checkpoints, checkpoint_tokens cascade;
    update sealer_state set ledger_revision = -1, log_position = null`);
  await catchUpLedger(pool, eventLog);
  expect((await keys()).rows).toEqual(before);
});

/** A log that fails at the first append of an event of this type. */
const failingAt = (type: string, fault: Fault) => ({
  eventLog: faultyLog(world.pipeline.eventLog, ({ events }) =>
    events.some((event) => event.type === type) ? fault : null,
  ),
});

test.each<[string, () => Partial<RotationOptions>]>([
  ['before the announcement', () => failingAt(LEDGER_KEY_ANNOUNCED, { before: killed })],
  ['after the announcement', () => failingAt(LEDGER_KEY_ANNOUNCED, { lost: killed })],
  ['before its batch', () => failingAt(BATCH_SEALED, { before: killed })],
  ['after its batch', () => failingAt(BATCH_SEALED, { lost: killed })],
  ['while the authority is down', () => ({ client: { stamp: () => Promise.reject(killed) } })],
  ['before the time stamp', () => failingAt(CHECKPOINT_STAMPED, { before: killed })],
  ['after the time stamp', () => failingAt(CHECKPOINT_STAMPED, { lost: killed })],
  [
    'before the new key signs',
    () => ({ keyring: { ...world.keyring, promoteNextLedgerKey: () => Promise.reject(killed) } }),
  ],
])(
  'resumes after a kill %s: packages stay valid, a stamper goes on, and the same call completes it',
  async (_, fault) => {
    const pinned = verifierKeyOf(await currentSigner());
    await expect(rotate(fault())).rejects.toThrow('killed');
    expect(await problemsWith(pinned)).toEqual(['valid']);

    await finishLedgerKeyRotation(parts());
    const { worker: pool, eventLog } = world.pipeline;
    expect((await catchUpLedger(pool, eventLog)).key).toBe(verifierKeyOf(await currentSigner()));
    await sealMore();
    await stamp();
    expect(await problemsWith(pinned)).toEqual(['valid']);

    await rotate();
    expect(verifierKeyOf(await currentSigner())).not.toBe(pinned);
    expect(await problemsWith(pinned)).toEqual(['valid']);
  },
);

test('ends under one key after two concurrent rotations', async () => {
  const pinned = verifierKeyOf(await currentSigner());
  const results = await Promise.allSettled([rotate(), rotate()]);
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect((await readLedgerState(world.pipeline.worker)).key).toBe(verifierKeyOf(await currentSigner()));
  expect(await problemsWith(pinned)).toEqual(['valid']);
});
