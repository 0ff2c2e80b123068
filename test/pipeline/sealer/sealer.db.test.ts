import { createHash, randomUUID } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { equalBytes, fromHex, toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { BATCH_SEALED, BatchSealedBody, LEDGER_KEY_PUBLISHED } from '../../../schemas/events/ledger.js';
import { hasTag, parseBody } from '../../../schemas/events/sealed-event.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import {
  BatchHeader,
  batchHeaderText,
  batchLeaf,
  streamsRoot,
  tiledRuns,
} from '../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { listQuarantinedSites } from '../../../src/pipeline/event-log/quarantined-sites.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt, LedgerKeyMismatch } from '../../../src/pipeline/ledger/errors.js';
import { readLedgerRoot, readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { ensurePolicySet } from '../../../src/pipeline/ledger/policy.js';
import { batchRoot, nextHeader, sealBatch, sealEmptyBatch } from '../../../src/pipeline/sealer/seal.js';
import { createSealer, type SealerOptions } from '../../../src/pipeline/sealer/sealer.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { until } from '../../support/wait.js';
import { type Fault, faultyLog } from '../relay/faulty-log.js';
import {
  count,
  event,
  idsInLog,
  newConsent,
  newErasure,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  whileRunning,
} from '../relay/pipeline.js';

let pipeline: Pipeline;
const signer = newSigner();
beforeEach(async () => {
  pipeline = await startPipeline();
});
afterEach(() => pipeline.close());

function sealer(changes: Partial<SealerOptions> = {}): BackgroundPart {
  return createSealer({
    keyring: testKeyring,
    db: pipeline.worker,
    eventLog: pipeline.eventLog,
    logger: silent,
    signer,
    limits: { maxLeaves: 16, maxAgeMs: 100 },
    pollMs: 20,
    ...changes,
  });
}

async function append(site: string, n: number): Promise<string[]> {
  const stream = consentsStream(site);
  const events = Array.from({ length: n }, () => newConsent(site));
  await pipeline.eventLog.append(stream, await pipeline.eventLog.lastRevision(stream), events);
  return events.map((e) => e.id);
}

const sealed = () => count(pipeline.owner, 'leaves');

const leafRows = z.array(
  z.object({
    batch: z.int(),
    index: z.int(),
    stream: z.string(),
    revision: z.int(),
    event_id: z.string(),
    hash: z.instanceof(Uint8Array),
    person_tag: z.instanceof(Uint8Array).nullable(),
  }),
);

/**
 * Checks every property of the sealed ledger, computed from the log and the tables independently of
 * the sealer.
 */
async function assertLedgerIsRight(wanted: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const { rows } = await pipeline.owner.query(
    'select batch, index, stream, revision, event_id, hash, person_tag from leaves order by batch, index',
  );
  const leaves = leafRows.parse(rows);
  for (const [stream, ids] of wanted) {
    const own = leaves.filter((leaf) => leaf.stream === stream);
    expect(own.map((leaf) => leaf.event_id)).toEqual(ids);
    expect(own.map((leaf) => leaf.revision)).toEqual(ids.map((_, revision) => revision));
    let previous: string | null = null;
    for (const found of await pipeline.eventLog.readStream(stream, 0, 1_000)) {
      const body = z
        .object({ record: z.string(), proof_hash: z.string().nullable().default(null) })
        .parse(JSON.parse(new TextDecoder().decode(found.data)));
      const leaf = own.find((candidate) => candidate.revision === found.revision);
      const tag = leaf?.person_tag ?? null;
      expect(tag === null).toBe(!hasTag(found.type));
      const entry: Record<string, unknown> = {
        event_id: found.id,
        person_tag: tag === null ? null : toHex(tag),
        previous,
        proof_hash: body.proof_hash,
        record: JSON.parse(body.record),
        revision: found.revision,
        stream,
        type: found.type,
        v: 1,
      };
      const hash: string = createHash('sha256').update(Uint8Array.of(0)).update(JSON.stringify(entry)).digest('hex');
      expect(leaf && toHex(leaf.hash)).toBe(hash);
      previous = hash;
    }
  }
  expect(leaves.length).toBe([...wanted.values()].flat().length);
  await assertTreeIsRight(leaves);
}

async function assertTreeIsRight(leaves: z.infer<typeof leafRows>): Promise<void> {
  const events = await pipeline.eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  const bodies = events.filter((e) => e.type === BATCH_SEALED).map((e) => parseBody(BatchSealedBody, e.type, e.data));
  const headers = bodies.map((body) => BatchHeader.parse(JSON.parse(body.header)));
  expect(headers.map((header) => header.number)).toEqual(headers.map((_, place) => place));
  expect([...headers].sort((a, b) => (a.sealed_at < b.sealed_at ? -1 : 1))).toEqual(headers);
  for (const header of headers) {
    const own = leaves.filter((leaf) => leaf.batch === header.number);
    expect(own.map((leaf) => leaf.index)).toEqual(own.map((_, place) => place));
    expect(own.length).toBe(header.count);
    expect(toHex(treeRoot(own.map((leaf) => leaf.hash)))).toBe(header.root);
  }
  const ledgerLeaves = bodies.map((body) => batchLeaf(body.header));
  for (let size = 1; size <= ledgerLeaves.length; size += 1) {
    expect(equalBytes(await readLedgerRoot(pipeline.worker, size), treeRoot(ledgerLeaves.slice(0, size)))).toBe(true);
  }
  const state = await readLedgerState(pipeline.worker);
  expect(state.size).toBe(bodies.length);
  expect(state.revision).toBe(events.length - 1);
}

test('seals every event of sites once, in order, into a growing tree', async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const wanted = new Map([
    [consentsStream(a), await append(a, 40)],
    [consentsStream(b), await append(b, 3)],
  ]);
  await whileRunning([sealer()], async () => {
    await until(async () => (await sealed()) === 43);
    const erasure = newErasure(a, wanted.get(consentsStream(a))?.[0] ?? '');
    await pipeline.eventLog.append(consentsStream(a), 39, [erasure]);
    wanted.get(consentsStream(a))?.push(erasure.id);
    await until(async () => (await sealed()) === 44);
  });
  await assertLedgerIsRight(wanted);
  const [first] = await pipeline.eventLog.readStream(LEDGER_STREAM, 0, 1);
  expect(first?.type).toBe(LEDGER_KEY_PUBLISHED);
});

test.each<[string, (n: number) => Fault]>([
  ['nothing arrives', (n) => (n % 2 === 0 ? { before: new Error('killed') } : null)],
  ['answers are lost', (n) => (n % 2 === 0 ? 'lost' : null)],
  ['it is killed between append and record', (n) => (n % 2 === 0 ? { lost: new Error('killed') } : null)],
])('seals each event exactly once when %s', async (_, fault) => {
  const site = randomUUID();
  const ids = await append(site, 60);
  let n = -1;
  const faulty = faultyLog(pipeline.eventLog, () => {
    n += 1;
    return fault(n);
  });
  await whileRunning([sealer({ eventLog: faulty })], () => until(async () => (await sealed()) === 60));
  await assertLedgerIsRight(new Map([[consentsStream(site), ids]]));
});

test('brings a new database and a stale one up to an existing ledger', async () => {
  const site = randomUUID();
  const ids = await append(site, 20);
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 20));
  await pipeline.owner.query(`
    truncate batches, sealed_events, ledger_nodes, sealed_streams, ledger_events, ledger_keys cascade;
    update sealer_state set ledger_revision = -1, log_position = null`);
  ids.push(...(await append(site, 5)));
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 25));
  await assertLedgerIsRight(new Map([[consentsStream(site), ids]]));
});

test('builds one history with three sealers that all believe to lead', async () => {
  const sites = Array.from({ length: 4 }, () => randomUUID());
  const pools = [pipeline.worker, await pipeline.newPoolWithoutLocks(), await pipeline.newPoolWithoutLocks()];
  const wanted = new Map<string, string[]>();
  await whileRunning(
    pools.map((pool) => sealer({ db: pool, limits: { maxLeaves: 7, maxAgeMs: 100 } })),
    async () => {
      for (let round = 0; round < 6; round += 1) {
        for (const site of sites) {
          wanted.set(consentsStream(site), [...(wanted.get(consentsStream(site)) ?? []), ...(await append(site, 5))]);
        }
      }
      await until(async () => (await sealed()) === 120);
    },
  );
  await assertLedgerIsRight(wanted);
});

test('continues after the loss of its connections while sealing', async () => {
  const site = randomUUID();
  const ids: string[] = [];
  await whileRunning([sealer()], async () => {
    for (let round = 0; round < 6; round += 1) {
      ids.push(...(await append(site, 20)));
      await pipeline.owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'test' and pid <> pg_backend_pid()`);
    }
    await until(async () => (await sealed()) === 120);
  });
  await assertLedgerIsRight(new Map([[consentsStream(site), ids]]));
});

test('seals one empty batch to create a size for a checkpoint', async () => {
  await whileRunning([sealer()], () => until(async () => (await readLedgerState(pipeline.worker)).revision === 0));
  const now = () => new Date();
  const state = await sealEmptyBatch(pipeline.worker, pipeline.eventLog, now);
  expect(state.size).toBe(1);
  expect((await sealEmptyBatch(pipeline.worker, pipeline.eventLog, now)).size).toBe(1);
  const { rows } = await pipeline.owner.query('select header from batches');
  const [{ header }] = z.tuple([z.object({ header: z.string() })]).parse(rows);
  const empty = createHash('sha256').digest('hex');
  expect(JSON.parse(header)).toMatchObject({ number: 0, count: 0, root: empty, streams_root: empty, after: null });
});

test('seals while the clock is behind the last batch, with the time of that batch', async () => {
  await whileRunning([sealer()], () => until(async () => (await readLedgerState(pipeline.worker)).revision === 0));
  const time = new Date();
  const first = await sealEmptyBatch(pipeline.worker, pipeline.eventLog, () => time);
  const earlier = new Date(time.getTime() - 60_000);
  const content = { leaves: [], logPosition: null };
  const { state } = await sealBatch(pipeline.worker, pipeline.eventLog, first, content, earlier);
  expect([state.size, state.sealedAt]).toEqual([2, time]);
});

test('counts the time that consents waited before it started', async () => {
  const site = randomUUID();
  const HOUR = 3_600_000;
  await pipeline.eventLog.append(consentsStream(site), -1, [newConsent(site, { event_id: uuidV7() })]);
  const limits = { maxLeaves: 1_000, maxAgeMs: HOUR };
  await whileRunning([sealer({ limits, now: () => new Date(Date.now() + HOUR) })], () =>
    until(async () => (await sealed()) === 1),
  );
});

test('refuses a ledger with another key', async () => {
  await whileRunning([sealer()], () => until(async () => (await readLedgerState(pipeline.worker)).revision === 0));
  const other = createSealer({
    keyring: testKeyring,
    db: pipeline.worker,
    eventLog: pipeline.eventLog,
    logger: silent,
    signer: newSigner(),
    limits: { maxLeaves: 10, maxAgeMs: 100 },
  });
  await expect(other.run(new AbortController().signal)).rejects.toThrow(LedgerKeyMismatch);
});

test('refuses a batch whose root does not match the events in the log', async () => {
  const site = randomUUID();
  await append(site, 2);
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 2));
  await append(site, 1);
  const state = await readLedgerState(pipeline.worker);
  const [last] = await pipeline.eventLog.readStream(LEDGER_STREAM, state.revision, 1);
  const { header, tags } = parseBody(BatchSealedBody, BATCH_SEALED, last?.data ?? new Uint8Array());
  const one = toHex(treeRoot([personTagLeaf(tags.slice(0, 32))]));
  const forged = header.replaceAll('count":2', 'count":1').replace('"number":0', '"number":1');
  const { streams_root, tags_root } = BatchHeader.parse(JSON.parse(forged));
  const runs: [string, number, number][] = [[consentsStream(site), 2, 2]];
  const { keyOf } = await catchUpLedger(pipeline.worker, pipeline.eventLog);
  const root = toHex(streamsRoot(tiledRuns([{ stream: consentsStream(site), first: 2, last: 2 }], keyOf)));
  await pipeline.eventLog.append(LEDGER_STREAM, state.revision, [
    event(randomUUID(), BATCH_SEALED, {
      header: forged.replace(streams_root, root).replace(tags_root, one),
      runs,
      tags: toBase64(tags.slice(0, 32)),
    }),
  ]);
  await expect(catchUpLedger(pipeline.worker, pipeline.eventLog)).rejects.toThrow(LedgerCorrupt);
  await expect(catchUpLedger(pipeline.worker, pipeline.eventLog)).rejects.toThrow(
    'the root is not that of the events in the log',
  );
  expect(await sealed()).toBe(2);
  expect((await idsInLog(pipeline.eventLog, LEDGER_STREAM)).length).toBe(state.revision + 2);
});

test('counts the policies in every header, and refuses a batch that counts others', async () => {
  const policy = { sealWithinSeconds: 600, stampWithinSeconds: 3600 };
  await append(randomUUID(), 1);
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 1));
  await ensurePolicySet(pipeline.worker, pipeline.eventLog, policy, () => new Date());
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 2));
  await append(randomUUID(), 1);
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 3));
  const { rows } = await pipeline.owner.query('select header from batches order by number');
  expect(rows.map(({ header }) => BatchHeader.parse(JSON.parse(header)).policies)).toEqual([0, 1, 1]);

  const state = await catchUpLedger(pipeline.worker, pipeline.eventLog);
  expect(state.policies).toBe(1);
  const header = { ...nextHeader(state, [], new Date()), policies: 0 };
  await pipeline.eventLog.append(LEDGER_STREAM, state.revision, [
    event(randomUUID(), BATCH_SEALED, { header: batchHeaderText(header), runs: [], tags: '' }),
  ]);
  await expect(catchUpLedger(pipeline.worker, pipeline.eventLog)).rejects.toThrow('its count of policies is wrong');
});

test('computes the RFC 6962 tree for every batch size', () => {
  const leaves = Array.from({ length: 130 }, (_, n) => new Uint8Array(createHash('sha256').update(`${n}`).digest()));
  for (let size = 0; size <= leaves.length; size += 1) {
    const part = leaves.slice(0, size);
    const root = batchRoot(part);
    expect(toHex(root)).toBe(toHex(treeRoot(part)));
    for (const index of new Set([0, size >> 1, size - 1])) {
      if (index < 0 || index >= size) continue;
      const path = hashesOfRanges(inclusionRanges(index, size), ({ level, index: at }) =>
        treeRoot(part.slice(at * 2 ** level, (at + 1) * 2 ** level)),
      );
      expect(verifyInclusion(index, size, part[index] ?? new Uint8Array(), path, root)).toEqual({ ok: true });
    }
  }
  expect(fromHex(toHex(batchRoot([])))).toEqual(new Uint8Array(createHash('sha256').digest()));
});

test('leaves out an event that bypassed the relay with a foreign proof hash, and seals other sites', async () => {
  const site = randomUUID();
  const [first, forged] = [newConsent(site), newConsent(site)];
  const body = new TextDecoder().decode(forged.data).replace('partial', 'accepted');
  await pipeline.eventLog.append(consentsStream(site), -1, [first]);
  await pipeline.eventLog.append(consentsStream(site), 0, [{ ...forged, data: new TextEncoder().encode(body) }]);
  const other = await append(randomUUID(), 3);
  await whileRunning([sealer()], () => until(async () => (await sealed()) === 4));
  expect(await count(pipeline.owner, 'leaves where event_id = $1', [forged.id])).toBe(0);
  expect(await count(pipeline.owner, 'leaves where event_id = any($1)', [[first.id, ...other]])).toBe(4);
  expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([
    { siteId: site, reason: expect.stringContaining(`${consentsStream(site)}, revision 1`) },
  ]);
});
