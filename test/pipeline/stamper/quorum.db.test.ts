import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { CHECKPOINT_STAMPED, CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { parseBody } from '../../../schemas/events/sealed-event.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { tryAppendToLedger } from '../../../src/pipeline/ledger/append-to-ledger.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt, LedgerRefused } from '../../../src/pipeline/ledger/errors.js';
import { verifierKeyOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { ensurePolicySet, readStampsDemanded } from '../../../src/pipeline/ledger/policy.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { handOverLedger, stampCheckpoint } from '../../../src/pipeline/stamper/stamp-checkpoint.js';
import { createStamper, type Stamper, type StamperOptions } from '../../../src/pipeline/stamper/stamper.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { certificatesOfPem } from '../../../src/timestamping/authorities.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
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

const signer = newSigner();
let folder: string;
let first: DevelopmentTsa;
let second: DevelopmentTsa;
let trustAnchors: Uint8Array[];
/** An address at which nothing answers. */
let dead: string;
let pipeline: Pipeline;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quorum-'));
  first = await startDevelopmentTsa({ folder: join(folder, 'first'), organization: 'First Authority' });
  second = await startDevelopmentTsa({ folder: join(folder, 'second'), organization: 'Second Authority' });
  const roots = await Promise.all(
    [first, second].map(({ rootCertificatePemPath }) => readFile(rootCertificatePemPath, 'utf8')),
  );
  trustAnchors = roots.flatMap(certificatesOfPem);
  const closed = createTcpServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  dead = `http://127.0.0.1:${portOf(closed)}/`;
  await new Promise((resolve) => closed.close(resolve));
});
afterAll(async () => {
  await first.stop();
  await second.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  pipeline = await startPipeline();
});
afterEach(() => pipeline.close());

function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** A stamper with a new client, as after a start. `asked` receives the host of each request. */
function stamper(
  authorities: readonly string[],
  {
    asked = [],
    timeoutMs = 60_000,
    ...changes
  }: Partial<StamperOptions> & { asked?: string[]; timeoutMs?: number } = {},
): Stamper {
  const client = createTimestampClient({
    authorities,
    trustAnchors,
    timeoutMs,
    backOff: { firstMs: 20, longestMs: 50 },
    observe: (host, ask) => {
      asked.push(host);
      return ask();
    },
  });
  const { worker: db, eventLog } = pipeline;
  const own = { db, eventLog, logger: silent, signer, client, quorum: 2, trustAnchors, minIntervalMs: 20, pollMs: 20 };
  return createStamper({ ...own, ...changes });
}

function sealer(): BackgroundPart {
  const { worker: db, eventLog } = pipeline;
  const limits = { maxLeaves: 8, maxAgeMs: 50 };
  return createSealer({ keyring: testKeyring, db, eventLog, logger: silent, signer, limits, pollMs: 20 });
}

async function append(): Promise<void> {
  const site = randomUUID();
  await pipeline.eventLog.append(consentsStream(site), -1, [newConsent(site)]);
}

const state = () => readLedgerState(pipeline.worker);
const isStamped = async (size: number) => ((await state()).stamped?.size ?? 0) >= size;
const isPending = async (size: number) => (await state()).pending?.size === size;

/** The time stamps in the ledger: `size.number organization`. */
async function stampsInLedger(): Promise<string[]> {
  const events = await pipeline.eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  return events
    .filter(({ type }) => type === CHECKPOINT_STAMPED)
    .map(({ type, data }) => parseBody(CheckpointStampedBody, type, data))
    .map(({ size, number, organization }) => `${size}.${number} ${organization}`);
}

const FIRST = 'O=first authority';
const SECOND = 'O=second authority';

test('a checkpoint counts as stamped when two authorities have stamped it', async () => {
  await append();
  await whileRunning([sealer(), stamper([first.url, second.url])], () => until(() => isStamped(1)));
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`]);
  const { rows } = await pipeline.owner.query('select size, tokens, authorities from checkpoints');
  expect(rows).toEqual([{ size: 1, tokens: 2, authorities: [first.url, second.url] }]);
});

test('the others are asked while one authority is dead', async () => {
  await append();
  await whileRunning([sealer(), stamper([dead, first.url, second.url])], () => until(() => isStamped(1)));
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`]);
});

test('a slow authority is left out after its time, and stamps when it answers in time', async () => {
  let isSlow = true;
  const slow: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (isSlow) return;
    const headers = { 'content-type': 'application/timestamp-query' };
    const answer = await fetch(second.url, { method: 'POST', headers, body: Buffer.concat(chunks) });
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    await append();
    const part = stamper([`http://127.0.0.1:${portOf(slow)}/`, first.url], { timeoutMs: 2_000 });
    await whileRunning([sealer(), part], async () => {
      await until(() => isPending(1));
      await until(() => Number(part.status().failures_in_a_row) > 0);
      isSlow = false;
      await until(() => isStamped(1));
    });
    expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`]);
  } finally {
    slow.closeAllConnections();
    await new Promise((resolve) => slow.close(resolve));
  }
});

test('two addresses of one authority count once, and the second is not asked again', async () => {
  const asked: string[] = [];
  await append();
  const alias = first.url.replace('127.0.0.1', 'localhost');
  const tsa = await startDevelopmentTsa({ folder: join(folder, 'alias'), organization: 'FIRST  Authority' });
  try {
    trustAnchors.push(...certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8')));
    const part = stamper([first.url, alias, tsa.url], { asked });
    await whileRunning([sealer(), part], async () => {
      await until(() => Number(part.status().failures_in_a_row) >= 3);
      expect(await isPending(1)).toBe(true);
    });
    expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`]);
    const hosts = [first.url, alias, tsa.url].map((url) => new URL(url).host);
    expect(asked).toEqual(hosts);
    const { rows } = await pipeline.owner.query('select size from checkpoints');
    expect(rows).toEqual([]);
  } finally {
    trustAnchors.pop();
    await tsa.stop();
  }
});

test('after a restart between the first and the second token, the first one is kept', async () => {
  const asked: string[] = [];
  await append();
  await whileRunning([sealer()], async () => {
    await whileRunning([stamper([first.url, dead], { asked })], () => until(() => isPending(1)));
    const before = await state();
    expect(before.stamped).toBeNull();
    await append();
    await until(async () => (await state()).size === 2);
    const { rows } = await pipeline.owner.query<{ header: string }>('select header from batches where number = 1');
    const { after } = BatchHeader.parse(JSON.parse(rows[0]?.header ?? ''));
    expect(after).toEqual({ size: 1, sha256: before.pending?.tokens[0]?.sha256 });
    await whileRunning([stamper([first.url, second.url], { asked })], () => until(() => isStamped(2)));
  });
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`, `2.1 ${FIRST}`, `2.2 ${SECOND}`]);
  const { rows } = await pipeline.owner.query<{ tsr: Buffer; tsr_sha256: string }>(
    'select tsr, tsr_sha256 from checkpoint_tokens',
  );
  for (const { tsr, tsr_sha256 } of rows) expect(toHex(sha256(tsr))).toBe(tsr_sha256);
});

test('three stampers that all believe to lead add no time stamp twice', async () => {
  const pools = [pipeline.worker, await pipeline.newPoolWithoutLocks(), await pipeline.newPoolWithoutLocks()];
  const urls = [first.url, second.url];
  await whileRunning([sealer(), ...pools.map((db) => stamper(urls, { db }))], async () => {
    for (let round = 1; round <= 5; round += 1) {
      await append();
      await until(async () => (await state()).size >= round);
    }
    await until(async () => isStamped((await state()).size));
  });
  const found = await stampsInLedger();
  expect(new Set(found.map((text) => text.slice(text.indexOf('O='))))).toEqual(new Set([FIRST, SECOND]));
  const sizes = found.map((text) => Number(text.split('.')[0]));
  expect(found.map((text) => text.split(' ')[0])).toEqual(
    [...new Set(sizes)].flatMap((size) => [`${size}.1`, `${size}.2`]),
  );
});

test('a stamp of a larger checkpoint does not follow a smaller one that another stamper began', async () => {
  const sealTo = async (size: number): Promise<void> => {
    await append();
    await whileRunning([sealer()], () => until(async () => (await state()).size === size));
  };
  await sealTo(1);
  const { worker: db, eventLog } = pipeline;
  const smaller = await catchUpLedger(db, eventLog);
  await sealTo(2);
  const clientOf = (...authorities: string[]) => createTimestampClient({ authorities, trustAnchors });
  const client = clientOf(second.url);
  // The other stamper is slow: it read the ledger before the second batch.
  const other = { db, eventLog, signer, client: clientOf(first.url), quorum: 2 };
  const begin = () => stampCheckpoint(other, smaller, null, new AbortController().signal).catch(() => undefined);
  const overtaken = {
    stamp: async (...args: Parameters<typeof client.stamp>) => {
      const obtained = await client.stamp(...args);
      await begin();
      return obtained;
    },
  };
  const options = { db, eventLog, signer, client: overtaken, quorum: 2 };
  const { state: after, isOwn } = await stampCheckpoint(
    options,
    await catchUpLedger(db, eventLog),
    null,
    new AbortController().signal,
  );
  expect(isOwn).toBe(false);
  expect(after.pending).toMatchObject({ size: 1 });
  await whileRunning([stamper([first.url, second.url])], () => until(() => isStamped(2)));
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`, `2.1 ${FIRST}`, `2.2 ${SECOND}`]);
});

test('a lower quorum completes a pending checkpoint with one more time stamp', async () => {
  await append();
  await whileRunning([sealer()], async () => {
    await whileRunning([stamper([first.url, dead])], () => until(() => isPending(1)));
    await whileRunning([stamper([first.url], { quorum: 1 })], () => until(() => isStamped(1)));
  });
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${FIRST}`]);
});

/** A sealer that publishes a policy with this number of authorities. */
function sealerWithPolicy(stamps: number): BackgroundPart {
  const { worker: db, eventLog } = pipeline;
  const limits = { maxLeaves: 8, maxAgeMs: 50 };
  const policy = { sealWithinSeconds: 600, stampWithinSeconds: 3600, stamps };
  return createSealer({ keyring: testKeyring, db, eventLog, logger: silent, signer, limits, policy, pollMs: 20 });
}

test('a lowered quorum counts when the former number of authorities has stamped its policy', async () => {
  await append();
  await whileRunning([sealerWithPolicy(2)], async () => {
    await until(async () => (await state()).policies === 1);
    await whileRunning([stamper([first.url, second.url])], async () =>
      until(async () => isStamped((await state()).size)),
    );
  });
  const before = await stampsInLedger();
  // The second authority is gone, and the operator lowers the quorum.
  const warnings: string[] = [];
  const logger = { ...silent, warn: (_: unknown, text?: string) => void warnings.push(String(text)) };
  await append();
  await whileRunning([sealerWithPolicy(1)], async () => {
    await until(async () => (await state()).policies === 2);
    const alone = stamper([first.url, dead], { quorum: 1, logger });
    await whileRunning([alone], async () => {
      await until(async () => (await state()).pending !== null);
      await until(() => Number(alone.status().failures_in_a_row) >= 2);
      expect(alone.status()).toMatchObject({ lowered_quorum_waits_for: 2 });
    });
    expect(warnings[0]).toContain('the lowered TSA_QUORUM is not in effect yet: 2 distinct authorities must stamp');
    expect((await stampsInLedger()).slice(before.length).map((text) => text.split(' O=')[1])).toEqual([
      'first authority',
    ]);
    // Once more, both stamp. From then on, one suffices.
    const both = stamper([first.url, second.url], { quorum: 1 });
    await whileRunning([both], async () => {
      await until(async () => isStamped((await state()).size));
      await append();
      const { size } = await state();
      await until(async () => (await state()).size > size && (await isStamped((await state()).size)));
      expect(both.status()).toMatchObject({ lowered_quorum_waits_for: 0 });
    });
  });
  const { rows } = await pipeline.owner.query<{ tokens: number }>('select tokens from checkpoints order by size');
  const counts = rows.map(({ tokens }) => tokens);
  expect(counts.slice(0, -1)).toEqual(counts.slice(0, -1).map(() => 2));
  expect(counts.at(-1)).toBe(1);
  expect(await readStampsDemanded(pipeline.worker, pipeline.eventLog, 1)).toEqual({
    authorities: 1,
    waitingPolicy: null,
  });
});

test('a raised quorum counts at once', async () => {
  const { worker: db, eventLog } = pipeline;
  const policy = { sealWithinSeconds: 600, stampWithinSeconds: 3600 };
  const demanded = () => readStampsDemanded(db, eventLog, 1);
  await ensurePolicySet(db, eventLog, { ...policy, stamps: 1 }, () => new Date());
  expect(await demanded()).toEqual({ authorities: 1, waitingPolicy: null });
  await ensurePolicySet(db, eventLog, { ...policy, stamps: 3 }, () => new Date());
  expect(await demanded()).toEqual({ authorities: 3, waitingPolicy: null });
  await ensurePolicySet(db, eventLog, { ...policy, stamps: 2 }, () => new Date());
  expect(await demanded()).toEqual({ authorities: 3, waitingPolicy: 3 });
  expect(await readStampsDemanded(db, eventLog, 4)).toEqual({ authorities: 4, waitingPolicy: 3 });
});

test('a change of the key completes a pending checkpoint, and both authorities stamp the next checkpoint', async () => {
  await append();
  await whileRunning([sealer()], async () => {
    await whileRunning([stamper([first.url, dead])], () => until(() => isPending(1)));
  });
  const next = newSigner();
  const { worker: db, eventLog } = pipeline;
  const client = createTimestampClient({ authorities: [first.url, second.url], trustAnchors });
  const after = await handOverLedger(
    { db, eventLog, client, quorum: 2, signer, next, readNewest: async () => null },
    new AbortController().signal,
  );
  expect(after).toMatchObject({ key: verifierKeyOf(next), stamped: { size: 2 }, pending: null });
  expect(await stampsInLedger()).toEqual([`1.1 ${FIRST}`, `1.2 ${SECOND}`, `2.1 ${FIRST}`, `2.2 ${SECOND}`]);
});

test('a time stamp of another checkpoint, or out of its order, is refused while one is pending', async () => {
  await append();
  await whileRunning([sealer()], async () => {
    await whileRunning([stamper([first.url, dead])], () => until(() => isPending(1)));
    await append();
    await until(async () => (await state()).size === 2);
  });
  const { worker: db, eventLog } = pipeline;
  const before = await catchUpLedger(db, eventLog);
  const events = await eventLog.readStream(LEDGER_STREAM, 0, 100);
  const stamped = events.find(({ type }) => type === CHECKPOINT_STAMPED);
  if (stamped === undefined) throw new Error('nothing was stamped');
  const event = { ...stamped, id: randomUUID() };
  await expect(tryAppendToLedger(eventLog, before, event)).rejects.toThrow(LedgerRefused);
  await eventLog.append(LEDGER_STREAM, before.revision, [event]);
  await expect(catchUpLedger(db, eventLog)).rejects.toThrow(LedgerCorrupt);
  await expect(catchUpLedger(db, eventLog)).rejects.toThrow('time stamp 1 of checkpoint 1 does not belong here');
});
