import { createHmac, randomUUID } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { CONSENT_RECORDED, type WrittenConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { consentsStream, isOwnStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { createEventStoreDbEventLog } from '../../../src/pipeline/event-log/eventstoredb/eventstoredb-event-log.js';
import type { EventLog, NewEvent } from '../../../src/pipeline/event-log/port.js';
import { createPostgresEventLog } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { type LedgerSigner, ledgerSignerOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import type { SiteKeys } from '../../../src/pipeline/sealer/assign-tags.js';
import type { BackgroundPart, ServiceLogger } from '../../../src/platform/background/part.js';
import { createPool, type Queryable } from '../../../src/platform/database/pool.js';
import type { DatabaseRole, SessionStep } from '../../../src/platform/database/session.js';
import { putEvents } from '../../../src/platform/database/shared-statements.js';
import type { Keyring } from '../../../src/platform/keys/index.js';
import { KeyError, type ProofKey, type ProofKeys } from '../../../src/platform/keys/index.js';
import { openKeyRow } from '../../../src/platform/keys/key-rows.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { lateSealing } from '../../support/late-sealing.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { elsewhere } from './elsewhere.js';
import { privateCorner } from './private-corner.js';

/** A database and an empty event log, as used by the parts of the pipeline. */
export interface Pipeline {
  readonly url: string;
  /** In the role of the superuser. */
  readonly owner: pg.Pool;
  readonly worker: pg.Pool;
  readonly projections: pg.Pool;
  readonly eventLog: EventLog;
  /** Creates another, empty log that is not in this database, as after the loss of the first. */
  newLog(): Promise<EventLog>;
  /** From now on, the transactions of all pools seal rows with this keyring. */
  sealWith(keyring: Pick<Keyring, 'sealing'>): void;
  /** Creates a further pool in the worker's role; closed at the end. */
  newPool(role?: DatabaseRole): pg.Pool;
  /**
   * Creates a pool in the worker's role for which every advisory lock seems free, as after an
   * unnoticed loss of a lock.
   */
  newPoolWithoutLocks(): Promise<pg.Pool>;
  close(): Promise<void>;
}

export async function startPipeline(): Promise<Pipeline> {
  const database = await createTestDatabase();
  const others: { readonly eventLog: EventLog; readonly database: TestDatabase }[] = [];
  const pools: pg.Pool[] = [];
  const sealing = lateSealing();
  const newPool = (role?: DatabaseRole, sessionSteps: readonly SessionStep[] = []): pg.Pool => {
    const pool = createPool({
      url: database.url,
      ...(role === undefined ? {} : { role }),
      applicationName: 'test',
      maxConnections: 12,
      statementTimeoutMs: 60_000,
      sessionSteps,
      onIdleError: () => undefined,
      transactions: sealing.hooks,
    });
    // The server may dismiss a client in the packet that accepts it, before the client's user can
    // register a listener.
    pool.on('connect', (db) => db.on('error', () => undefined));
    pools.push(pool);
    return pool;
  };
  const log = openLog(database.url);
  const owner = newPool();
  return {
    url: database.url,
    owner,
    worker: newPool('consent_ledger_worker'),
    projections: newPool('consent_ledger_projections'),
    eventLog: log,
    sealWith: (keyring) => sealing.use(keyring),
    newPool: (role) => newPool(role),
    async newPoolWithoutLocks() {
      await owner.query(`
        create schema if not exists no_locks;
        grant usage on schema no_locks to public;
        create or replace function no_locks.pg_try_advisory_lock(bigint) returns boolean language sql return true`);
      return newPool('consent_ledger_worker', [{ sql: 'set search_path = no_locks, pg_catalog, public' }]);
    },
    async newLog() {
      const other = await createTestDatabase();
      const empty = openLog(other.url);
      others.push({ eventLog: empty, database: other });
      return elsewhere(empty);
    },
    async close() {
      await Promise.all([log, ...others.map((other) => other.eventLog)].map((one) => one.close()));
      await Promise.all(others.map((other) => other.database.drop()));
      await Promise.all(pools.map((pool) => pool.end()));
      await database.drop();
    },
  };
}

function openLog(url: string): EventLog {
  const eventStore = process.env.EVENTSTORE_URL;
  if (eventStore !== undefined && eventStore !== '') {
    const prefix = `t${randomUUID().slice(0, 8)}`;
    const isOwn = (stream: string) => stream.startsWith(`${prefix}-`) && isOwnStream(stream.slice(prefix.length + 1));
    return privateCorner(createEventStoreDbEventLog(eventStore, { isOwnStream: isOwn }), prefix);
  }
  return createPostgresEventLog({ url, role: 'consent_ledger_worker' });
}

const print = (...line: unknown[]): void => {
  if (process.env.TEST_LOG !== undefined) console.log(new Date().toISOString(), ...line);
};

/** A logger that prints only if TEST_LOG is set. */
export const silent: ServiceLogger = { info: print, warn: print, error: print };

/** Creates a new key of the ledger. */
export function newSigner(origin = 'ledger.example/test'): LedgerSigner {
  const key = signingKeyOf({ ...newSigningKey('test'), ownerId: null, retiredAt: null });
  return ledgerSignerOf(key, origin, UNGUARDED);
}

const PROOF_KEY: ProofKey = { id: 'proof-1', key: Buffer.alloc(32, 7), tenantId: randomUUID() };

/** Contains only the key of `newConsent`. */
export const testKeyring: ProofKeys & SiteKeys = {
  siteKeys: async (siteIds) => new Map(siteIds.map((siteId) => [siteId, Buffer.alloc(32, 7)])),
  openKeyRows: async (rows) => rows.flatMap((row) => openKeyRow(Buffer.alloc(32, 7), row) ?? []),
  proofKeyById: async (id) => {
    if (id !== PROOF_KEY.id) throw new KeyError('key_missing', `There is no proof key ${id}.`);
    return PROOF_KEY;
  },
};

/** Returns a consent as admission writes it. */
export function newConsent(siteId: string, changes: Partial<WrittenConsentRecord> = {}): NewEvent {
  const id = changes.event_id ?? randomUUID();
  const record: WrittenConsentRecord = {
    v: 2,
    hash_version: 2,
    proof_key_id: PROOF_KEY.id,
    event_id: id,
    site_id: siteId,
    consent_type: 'cookie',
    decision: 'partial',
    categories: { analytics: true, marketing: false },
    services: null,
    language: 'tr',
    document_version_id: '0b7a52f0-52a5-4a5e-9f2e-6d35a2d1c001',
    document_hash: 'ab'.repeat(32),
    site_config_hash: 'cd'.repeat(32),
    compliance_framework: 'kvkk',
    created_at: '2026-11-21T10:00:00.123Z',
    valid_until: '2027-11-21T10:00:00.123Z',
    ask_again_at: null,
    scope: 'device',
    rule_id: null,
    channel: 's2s',
    api_key_id: '0b7a52f0-52a5-4a5e-9f2e-6d35a2d1c002',
    identity_assurance: null,
    approval_token_id: null,
    vouched: [],
    disclosures: {},
    ...changes,
  };
  const text = canonicalJson(record);
  const proofHash = createHmac('sha256', PROOF_KEY.key).update(text).digest('hex');
  return event(id, CONSENT_RECORDED, { record: text, proof_hash: proofHash, disclosures: null, attachments: [] });
}

/** Returns an erasure as the worker writes it. */
export function newErasure(siteId: string, erasedId: string): NewEvent {
  const id = randomUUID();
  const record = {
    v: 1,
    event_id: id,
    site_id: siteId,
    created_at: '2026-11-21T11:00:00.000Z',
    reason: 'person',
    erased_event_id: erasedId,
  };
  return event(id, SUBJECT_ERASED, { record: canonicalJson(record) });
}

export function event(id: string, type: string, body: Parameters<typeof canonicalJson>[0]): NewEvent {
  return { id, type, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/** Stores events, as admission does. */
export async function admit(
  db: Queryable,
  siteId: string,
  events: readonly NewEvent[],
  stream = consentsStream(siteId),
): Promise<void> {
  await putEvents(db, siteId, stream, events);
}

/** Lets the events of a stream from a revision on wait again, as in a database that was restored from a backup. */
export async function waitAgain(db: Queryable, stream: string, revision: number): Promise<void> {
  await db.query(
    `insert into event_log.waiting (site_id, stream, revision, count, bytes)
     select s.site_id, s.number, $2, count(*), sum(octet_length(e.data))
       from event_log.streams s join event_log.events e on e.stream = s.number
      where s.name = $1 and e.revision >= $2 group by s.site_id, s.number`,
    [stream, revision],
  );
}

/** Removes the waiting events of a site. */
export async function dropWaiting(db: Queryable, siteId: string): Promise<void> {
  await db.query(
    `with rows as (delete from event_log.waiting where site_id = $1 returning stream, revision, count),
       ends as (update event_log.streams s set next_revision = r.revision
                  from (select stream, min(revision) as revision from rows group by stream) r where s.number = r.stream)
     delete from event_log.events e using rows r
      where e.stream = r.stream and e.revision between r.revision and r.revision + r.count - 1`,
    [siteId],
  );
}

/**
 * Runs parts while `work` runs, then stops them.
 * @throws any error of the parts or of `work`
 */
export async function whileRunning<T>(parts: readonly BackgroundPart[], work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = Promise.all(parts.map((part) => part.run(stop.signal)));
  try {
    const failed = new Promise<never>((_, reject) => running.catch(reject));
    return await Promise.race([work(), failed]);
  } finally {
    stop.abort();
    await running;
  }
}

/** Returns the ids of a stream's events in the log, in order. */
export async function idsInLog(eventLog: EventLog, stream: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const page = await eventLog.readStream(stream, ids.length, 500);
    if (page.length === 0) return ids;
    ids.push(...page.map((e) => e.id));
  }
}

export async function count(db: pg.Pool, sql: string, values: unknown[] = []): Promise<number> {
  const { rows } = await db.query(`select count(*)::int as n from ${sql}`, values);
  return z.array(z.object({ n: z.int() })).parse(rows)[0]?.n ?? 0;
}
