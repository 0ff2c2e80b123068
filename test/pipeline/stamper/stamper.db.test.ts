import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { fromHex, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import {
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
  EVIDENCE_KEPT,
  EvidenceKeptBody,
} from '../../../schemas/events/ledger.js';
import { parseBody } from '../../../schemas/events/sealed-event.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyNote } from '../../../schemas/evidence/verify-note.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { verifierKeyOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { renewalTime } from '../../../src/pipeline/stamper/newest-stamp.js';
import { createStamper, type Stamper, type StamperOptions } from '../../../src/pipeline/stamper/stamper.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { certificatesOfPem } from '../../../src/timestamping/authorities.js';
import { createTimestampClient, type TimestampClient } from '../../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { until } from '../../support/wait.js';
import { type Fault, faultyLog } from '../relay/faulty-log.js';
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
let tsa: DevelopmentTsa;
let trustAnchors: Uint8Array[];
let pipeline: Pipeline;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stamper-'));
  tsa = await startDevelopmentTsa({ folder });
  trustAnchors = certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8'));
});
afterAll(async () => {
  await tsa.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  pipeline = await startPipeline();
});
afterEach(() => pipeline.close());

function client(): TimestampClient {
  return createTimestampClient({ authorities: [tsa.url], trustAnchors, backOff: { firstMs: 20, longestMs: 50 } });
}

function stamper(changes: Partial<StamperOptions> = {}): Stamper {
  const { worker: pool, eventLog } = pipeline;
  return createStamper({
    db: pool,
    eventLog,
    logger: silent,
    signer,
    client: client(),
    quorum: 1,
    trustAnchors,
    minIntervalMs: 20,
    pollMs: 20,
    ...changes,
  });
}

function sealer(eventLog: EventLog = pipeline.eventLog): BackgroundPart {
  return createSealer({
    keyring: testKeyring,
    db: pipeline.worker,
    eventLog,
    logger: silent,
    signer,
    limits: { maxLeaves: 8, maxAgeMs: 50 },
    pollMs: 20,
  });
}

async function append(n: number): Promise<void> {
  const site = randomUUID();
  await pipeline.eventLog.append(
    consentsStream(site),
    -1,
    Array.from({ length: n }, () => newConsent(site)),
  );
}

const state = () => readLedgerState(pipeline.worker);
const isStamped = async (size: number) => ((await state()).stamped?.size ?? 0) >= size;

/**
 * Checks every time stamp of the ledger independently: one per size, signed notes, tokens over the
 * notes, ascending times.
 */
async function assertStampsAreRight(): Promise<CheckpointStampedBody[]> {
  const events = await pipeline.eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  const stamps = events
    .filter((e) => e.type === CHECKPOINT_STAMPED)
    .map((e) => parseBody(CheckpointStampedBody, e.type, e.data));
  const sizes = stamps.map((stamp) => stamp.size);
  expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b));
  const key = parseVerifierKey(verifierKeyOf(signer));
  for (const stamp of stamps) {
    const note = parseNote(stamp.note);
    expect(note && key && (await verifyNote(note, key))).toBe('signed');
    expect(note && parseCheckpoint(note.text)?.size).toBe(stamp.size);
    const kept = async (digests: readonly string[]): Promise<Uint8Array[]> => {
      const { rows } = await pipeline.owner.query(
        'select bytes from kept_evidence where sha256 = any($1) order by sha256',
        [digests],
      );
      const bytes = z
        .array(z.object({ bytes: z.instanceof(Uint8Array) }))
        .parse(rows)
        .map((row) => row.bytes);
      expect(bytes.map((one) => toHex(sha256(one)))).toEqual([...digests]);
      return bytes;
    };
    const report = await verifyTimestamp({
      token: stamp.tsr,
      stamped: { data: utf8(stamp.note) },
      trustAnchors,
      untrusted: await kept(stamp.certificates),
      crls: await kept(stamp.crls),
      ocspResponses: await kept(stamp.ocsp),
      revocation: 'require',
      at: new Date(),
    });
    expect(report.outcome).toBe('pass');
  }
  const { rows } = await pipeline.owner.query(
    'select size, note, tsr_sha256 from checkpoint_tokens join checkpoints using (size, note) order by size',
  );
  expect(rows).toEqual(stamps.map(({ size, note, tsr }) => ({ size, note, tsr_sha256: toHex(sha256(tsr)) })));
  return stamps;
}

test('stamps the newest checkpoint, and the next batch refers to the time stamp', async () => {
  await append(20);
  await whileRunning([sealer(), stamper()], async () => {
    await until(async () => (await state()).size >= 3 && isStamped((await state()).size));
    const before = await state();
    await append(1);
    await until(async () => (await state()).size > before.size);
    const { rows } = await pipeline.owner.query('select header from batches where number = $1', [before.size]);
    const [{ header }] = z.tuple([z.object({ header: z.string() })]).parse(rows);
    expect(BatchHeader.parse(JSON.parse(header)).after).toEqual(before.stamped);
    expect(fromHex(before.stamped?.sha256 ?? '')?.length).toBe(32);
    await until(() => isStamped(before.size + 1));
  });
  expect((await assertStampsAreRight()).length).toBeGreaterThanOrEqual(2);
});

test.each<[string, (n: number) => Fault]>([
  ['nothing arrives', (n) => (n % 2 === 0 ? { before: new Error('killed') } : null)],
  ['answers are lost', (n) => (n % 2 === 0 ? 'lost' : null)],
  ['it is killed between append and record', (n) => (n % 2 === 0 ? { lost: new Error('killed') } : null)],
])('creates one time stamp for each size when %s', async (_, fault) => {
  await whileRunning([sealer()], async () => {
    let n = -1;
    const log = faultyLog(pipeline.eventLog, () => {
      n += 1;
      return fault(n);
    });
    for (let round = 1; round <= 3; round += 1) {
      await append(1);
      await until(async () => (await state()).size === round);
      await whileRunning([stamper({ eventLog: log })], () => until(() => isStamped(round)));
    }
  });
  expect((await assertStampsAreRight()).map((stamp) => stamp.size)).toEqual([1, 2, 3]);
});

test('creates one time stamp for each size with three stampers that all believe to lead', async () => {
  const pools = [pipeline.worker, await pipeline.newPoolWithoutLocks(), await pipeline.newPoolWithoutLocks()];
  await whileRunning([sealer(), ...pools.map((pool) => stamper({ db: pool }))], async () => {
    for (let round = 1; round <= 8; round += 1) {
      await append(2);
      await until(async () => (await state()).size >= round);
    }
    await until(async () => isStamped((await state()).size));
  });
  await assertStampsAreRight();
});

test('keeps sealing during an outage of the authority, which only delays the time stamp', async () => {
  let isDown = true;
  const real = client();
  const failing: TimestampClient = {
    stamp: (data, options) =>
      isDown ? Promise.reject(new Error('the authority does not answer')) : real.stamp(data, options),
  };
  const part = stamper({ client: failing });
  await whileRunning([sealer(), part], async () => {
    await append(1);
    await until(() => Number(part.status().failures_in_a_row) > 0);
    await append(1);
    await until(async () => (await state()).size === 2);
    expect((await state()).stamped).toBeNull();
    isDown = false;
    await until(() => isStamped(2));
  });
  expect((await assertStampsAreRight()).map((stamp) => stamp.size)).toEqual([2]);
});

test('seals for four days without an authority, and stamps all of it once when one answers again', async () => {
  const [days, everyHours] = [4, 4];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    let isAway = true;
    const away = createTimestampClient({
      authorities: [tsa.url],
      trustAnchors,
      fetch: (...request) => (isAway ? Promise.reject(new TypeError('away')) : fetch(...request)),
    });
    const began = Date.now();
    const part = stamper({ client: away });
    await whileRunning([sealer(), part], async () => {
      await append(1);
      await until(() => Number(part.status().failures_in_a_row) > 0);
      for (let hours = everyHours; hours <= days * 24; hours += everyHours) {
        vi.setSystemTime(began + hours * 3_600_000);
        await append(1);
        await until(async () => (await state()).size === 1 + hours / everyHours);
      }
      expect((await state()).stamped).toBeNull();
      isAway = false;
      // The clock stands, and the client may leave the authority alone for ten minutes.
      vi.setSystemTime(Date.now() + 600_000);
      await until(() => isStamped(1 + (days * 24) / everyHours));
    });
    const [stamp, ...others] = await assertStampsAreRight();
    expect(others).toEqual([]);
    expect(stamp?.size).toBe(1 + (days * 24) / everyHours);
    const { rows } = await pipeline.owner.query(
      `select count(distinct header::jsonb->>'sealed_at')::int as times from batches`,
    );
    expect(rows).toEqual([{ times: 1 + (days * 24) / everyHours }]);
  } finally {
    vi.useRealTimers();
  }
});

/** A clock that is ahead of the real one, and the wait until a part has looked at it several times more. */
function clock(aheadMs: () => number) {
  let looks = 0;
  return {
    now: (): Date => {
      looks += 1;
      return new Date(Date.now() + aheadMs());
    },
    looksAgain: async (): Promise<void> => {
      const before = looks;
      await until(() => looks > before + 3);
    },
  };
}

test('renews once, over an empty batch, before a certificate expires', async () => {
  await append(1);
  let isLate = false;
  const { now, looksAgain } = clock(() => (isLate ? 365 * 86_400_000 * 50 : 0));
  const part = stamper({ now });
  await whileRunning([sealer(), part], async () => {
    await until(() => isStamped(1));
    await looksAgain();
    expect((await state()).size).toBe(1);
    isLate = true;
    await until(() => isStamped(2));
    isLate = false;
  });
  const { rows } = await pipeline.owner.query('select count from batches where number = 1');
  expect(rows).toEqual([{ count: 0 }]);
  await assertStampsAreRight();
});

test('stamps a ledger without new events again, so that packages of it show a recent state', async () => {
  await append(1);
  await whileRunning([sealer()], () => until(async () => (await state()).size === 1));
  const HOUR = 3_600_000;
  let later = 0;
  const { now, looksAgain } = clock(() => later);
  const part = stamper({ maxQuietMs: HOUR, now });
  await whileRunning([part], async () => {
    await until(() => isStamped(1));
    await looksAgain();
    expect((await state()).size).toBe(1);
    later = HOUR;
    await until(() => isStamped(2));
  });
  const { rows } = await pipeline.owner.query('select count from batches where number = 1');
  expect(rows).toEqual([{ count: 0 }]);
});

test('renews a margin before the end, but never in the first half of a time stamp\u2019s lifetime', () => {
  const day = 86_400_000;
  const at = (days: number) => new Date(days * day);
  expect(renewalTime(at(0), at(1000), 60 * day)).toEqual(at(940));
  expect(renewalTime(at(0), at(50), 60 * day)).toEqual(at(25));
  expect(renewalTime(at(10), at(5), 60 * day)).toEqual(at(10));
  expect(renewalTime(at(0), null, 60 * day)).toEqual(new Date(3_600_000));
});

test('keeps a large revocation list in the ledger once, in parts that an append accepts, also when it is killed', async () => {
  const list = randomBytes(2_500_000);
  const real = client();
  const withList: TimestampClient = {
    ...real,
    stamp: async (...wanted) => ({ ...(await real.stamp(...wanted)), crls: [list] }),
  };
  let appends = 0;
  // The second part arrives, and the process is killed before it knows.
  const log = faultyLog(pipeline.eventLog, () => {
    appends += 1;
    return appends === 2 ? { lost: new Error('killed') } : null;
  });
  await whileRunning([sealer()], async () => {
    for (const size of [1, 2]) {
      await append(1);
      await until(async () => (await state()).size === size);
      await whileRunning([stamper({ eventLog: log, client: withList })], () => until(() => isStamped(size)));
    }
  });
  const events = await pipeline.eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  const parts = events
    .filter(({ type }) => type === EVIDENCE_KEPT)
    .map(({ type, data }) => parseBody(EvidenceKeptBody, type, data))
    .filter(({ kind }) => kind === 'crl');
  expect(parts.map(({ part, parts: all }) => `${part + 1} of ${all}`)).toEqual(
    Array.from({ length: 5 }, (_, i) => `${i + 1} of 5`),
  );
  // `toEqual` compares bytes one by one, which takes seconds for so many.
  expect(list.equals(Buffer.concat(parts.map(({ data }) => data)))).toBe(true);
  const { rows } = await pipeline.owner.query<{ bytes: Buffer }>(`select bytes from kept_evidence where kind = 'crl'`);
  expect(rows.map(({ bytes }) => list.equals(bytes))).toEqual([true]);
});
