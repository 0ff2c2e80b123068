import { getEventListeners, setMaxListeners } from 'node:events';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { expect, test } from 'vitest';
import { toBase64 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_KEY_PUBLISHED } from '../../../schemas/events/ledger.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { Wakeups } from '../../../src/pipeline/event-log/postgres/wakeups.js';
import { ledgerEvent } from '../../../src/pipeline/ledger/append-to-ledger.js';
import { ledgerSignerOf, mlDsaVerifierKeyOf, verifierKeyOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { createRelay } from '../../../src/pipeline/relay/relay.js';
import { createStamper } from '../../../src/pipeline/stamper/stamper.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { UNGUARDED } from '../../support/unguarded.js';

/** Number of polls of an idle worker in slightly more than a day. */
const TURNS = 100_000;
/** Long enough that only a notification ends a pause. */
const NEVER_MS = 600_000;

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const signer = ledgerSignerOf(
  signingKeyOf({ ...newSigningKey('test'), ownerId: null, retiredAt: null }),
  'ledger.example',
  UNGUARDED,
);

/**
 * The caches of the runtime take up to 0.2 MB. One retained signal per turn takes 5.8 MB on Node
 * 20.
 */
const TOLERANCE_BYTES = 2_000_000;

v8.setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

/** Returns the bytes in use on the heap. */
function heapInUse(): number {
  if (typeof collectGarbage !== 'function') throw new Error('the garbage collector cannot be called');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

interface Turns {
  /** Aborted after `TURNS` turns. */
  readonly signal: AbortSignal;
  /** Bytes in use after the last turn minus those after the 1,000th, while the loop still ran. */
  readonly growth: () => number;
  /** Called once per turn. */
  readonly count: () => void;
}

function countTurns(wake: () => void): Turns {
  const stop = new AbortController();
  let turns = 0;
  let [first, last] = [0, 0];
  return {
    signal: stop.signal,
    growth: () => last - first,
    count: () => {
      turns += 1;
      // The pause has begun by then, so the notification ends it, as in a running service.
      setImmediate(() => {
        if (turns === 1_000) first = heapInUse();
        if (turns === TURNS) {
          last = heapInUse();
          stop.abort();
        }
        wake();
      });
    },
  };
}

/** Returns an empty database that grants every lock. `answers` returns the rows of a statement. */
function emptyDatabase(answers: (sql: string) => readonly object[]): pg.Pool {
  const client = Object.assign(new pg.Client(), {
    release: () => undefined,
    query: (sql: string) => Promise.resolve({ rows: sql.includes('advisory') ? [{ held: true }] : [] }),
  });
  return Object.assign(new pg.Pool(), {
    connect: () => Promise.resolve(client),
    query: (sql: string | { readonly text: string }) =>
      Promise.resolve({ rows: answers(typeof sql === 'string' ? sql : sql.text), rowCount: 0 }),
  });
}

const emptyLog: EventLog = {
  kind: 'postgres',
  maxAppendBytes: 1_000_000,
  append: () => Promise.reject(new Error('nothing is appended')),
  appendAll: () => Promise.reject(new Error('nothing is appended')),
  readStream: () => Promise.resolve([]),
  readEvents: () => Promise.resolve([]),
  lastRevision: () => Promise.resolve(0),
  lastRevisions: () => Promise.resolve(new Map()),
  firstRevisions: () => Promise.resolve(new Map()),
  readAll: () => Promise.reject(new Error('nothing is read')),
  subscribe: () => {
    throw new Error('nothing is read');
  },
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

test('retains no memory of idle turns in the relay', async () => {
  const turns = countTurns(() => relay.wake());
  const pool = emptyDatabase((sql) => {
    if (sql.includes('from event_log.waiting_sites')) turns.count();
    return [];
  });
  const relay = createRelay({
    db: pool,
    eventLog: emptyLog,
    keyring: { proofKeyById: () => Promise.reject(new Error('nothing is relayed')) },
    logger,
    pollMs: NEVER_MS,
    retentionMs: NEVER_MS,
    retentionEveryMs: NEVER_MS,
  });
  await relay.run(turns.signal);
  expect(turns.growth()).toBeLessThan(TOLERANCE_BYTES);
});

test('retains no memory of idle turns in the stamper', async () => {
  const turns = countTurns(() => stamper.wake());
  const state = {
    ledger_revision: 0,
    log_position: null,
    size: 0,
    policies: 0,
    sealed_at: null,
    stamped_size: null,
    tsr_sha256: null,
    pending_size: null,
    pending_note: null,
    pending_sha256: null,
    pending_organizations: null,
  };
  const pool = emptyDatabase((sql) => {
    if (!sql.includes('from sealer_state')) return [];
    turns.count();
    return [{ ...state, key: verifierKeyOf(signer), ml_dsa_key: mlDsaVerifierKeyOf(signer) }];
  });
  const body = {
    v: 1,
    created_at: new Date().toISOString(),
    key: verifierKeyOf(signer),
    ml_dsa_key: mlDsaVerifierKeyOf(signer),
    salt_key: toBase64(new Uint8Array(32)),
  };
  const published = { ...ledgerEvent(LEDGER_KEY_PUBLISHED, body), stream: LEDGER_STREAM, revision: 0 };
  const stamper = createStamper({
    db: pool,
    eventLog: { ...emptyLog, readStream: async (_stream, from) => (from === 0 ? [published] : []) },
    logger,
    signer,
    client: { stamp: () => Promise.reject(new Error('nothing is stamped')) },
    quorum: 1,
    trustAnchors: [],
    minIntervalMs: NEVER_MS,
    pollMs: NEVER_MS,
  });
  await stamper.run(turns.signal);
  expect(turns.growth()).toBeLessThan(TOLERANCE_BYTES);
});

test('retains no memory of turns that wait for appends', async () => {
  const wakeups = new Wakeups({ url: '', applicationName: 'idle', statementTimeoutMs: 0 }, () => undefined);
  const { signal } = new AbortController();
  const AT_ONCE = 1_000;
  setMaxListeners(AT_ONCE, signal);
  for (let turn = 0; turn < TURNS; turn += AT_ONCE) {
    const waits = Array.from({ length: AT_ONCE }, () => wakeups.wait(wakeups.ticket, 0, signal));
    expect(getEventListeners(signal, 'abort').length).toBe(AT_ONCE);
    await Promise.all(waits);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  }
});
