import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import {
  BATCH_SEALED,
  CHECKPOINT_STAMPED,
  LEDGER_EVENT_SKIPPED,
  type LedgerEventSkippedBody,
} from '../../../schemas/events/ledger.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { erasureTag } from '../../../schemas/evidence/person-tag.js';
import { collectFindings, type Finding } from '../../../src/audit/finding.js';
import { auditLedger } from '../../../src/audit/ledger.js';
import { LogBehind } from '../../../src/pipeline/event-log/errors.js';
import type { NewEvent } from '../../../src/pipeline/event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../../../src/pipeline/ledger/append-to-ledger.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt, LedgerRefused } from '../../../src/pipeline/ledger/errors.js';
import { emptyLedger } from '../../../src/pipeline/ledger/open-ledger.js';
import { skipLedgerEvent } from '../../../src/pipeline/ledger/repair-ledger.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { createStamper } from '../../../src/pipeline/stamper/stamper.js';
import type { BackgroundPart, ServiceLogger } from '../../../src/platform/background/part.js';
import { certificatesOfPem } from '../../../src/timestamping/authorities.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { until } from '../../support/wait.js';
import { damageSql } from '../event-log/postgres-fixture.js';
import {
  count,
  newConsent,
  newErasure,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  whileRunning,
} from '../relay/pipeline.js';

const TagRows = z.tuple([z.object({ person_tag: z.instanceof(Uint8Array) })]);

const signer = newSigner();
const site = randomUUID();
let folder: string;
let tsa: DevelopmentTsa;
let trustAnchors: Uint8Array[];
let pipeline: Pipeline;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wrong-rows-'));
  tsa = await startDevelopmentTsa({ folder, organization: 'Authority' });
  trustAnchors = certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8'));
  pipeline = await startPipeline();
  await consent();
  await whileRunning(parts(), () => until(isStamped));
});
afterAll(async () => {
  await pipeline.close();
  await tsa.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A sealer and a stamper that begin now, as after a start. */
function parts(logger: ServiceLogger = silent): BackgroundPart[] {
  const { worker: db, eventLog } = pipeline;
  const own = { db, eventLog, logger, signer, pollMs: 20 };
  const client = createTimestampClient({ authorities: [tsa.url], trustAnchors });
  return [
    createSealer({ ...own, keyring: testKeyring, limits: { maxLeaves: 8, maxAgeMs: 20 } }),
    createStamper({ ...own, client, quorum: 1, trustAnchors, minIntervalMs: 20 }),
  ];
}

async function consent(): Promise<void> {
  const stream = consentsStream(site);
  await pipeline.eventLog.append(stream, await pipeline.eventLog.lastRevision(stream), [newConsent(site)]);
}

/** Whether every event is in a batch, and every batch has a time stamp. */
async function isStamped(): Promise<boolean> {
  const sealed = await count(pipeline.owner, 'leaves');
  const last = await pipeline.eventLog.lastRevision(consentsStream(site));
  const open = await count(pipeline.owner, 'batches where number >= (select coalesce(max(size), 0) from checkpoints)');
  return sealed === last + 1 && open === 0;
}

/** Changes rows as no right of the service can. */
async function alter(sql: string): Promise<void> {
  await pipeline.owner.query(`begin; set local session_replication_role = replica; ${sql}; commit`);
}

const flip = (column: string) => `${column} = set_byte(${column}, 0, get_byte(${column}, 0) # 1)`;
const reverse = (column: string) => `${column} = reverse(${column})`;

type Sql = (size: number, last: number) => string;

/** A temporary fault: the SQL that causes it, and the SQL that undoes it. */
function wrong(what: string, altered: Sql, restored: Sql = altered): readonly [string, Sql, Sql] {
  return [what, altered, restored];
}

/** Removes rows, and brings them back. */
function without(table: string, condition: Sql = () => 'true'): [Sql, Sql] {
  return [
    (size, last) =>
      `create table kept as select * from ${table} where ${condition(size, last)}; delete from ${table} where ${condition(size, last)}`,
    () => `insert into ${table} select * from kept on conflict do nothing; drop table kept`,
  ];
}

/** Adds to a column, and subtracts again. */
function shifted(table: string, column: string, by: number): [Sql, Sql] {
  return [
    () => `update ${table} set ${column} = ${column} + (${by})`,
    () => `update ${table} set ${column} = ${column} - (${by})`,
  ];
}

const resized = (table: string): [Sql, Sql] => [
  (size) => `update ${table} set size = ${size + 1} where size = ${size}`,
  (size) => `update ${table} set size = ${size} where size = ${size + 1}`,
];

const WRONG = [
  wrong('a checkpoint of a size that the ledger does not have', ...resized('checkpoints')),
  wrong('no checkpoint', ...without('checkpoints')),
  wrong('time stamps of another size', ...resized('checkpoint_tokens')),
  wrong(
    'another digest of each response',
    (size) => `update checkpoint_tokens set ${reverse('tsr_sha256')} where size <= ${size}`,
  ),
  wrong('no key', ...without('ledger_keys')),
  wrong('an end of a stream that is too early', ...shifted('sealed_streams', 'revision', -1)),
  wrong('an end of a stream that is too late', ...shifted('sealed_streams', 'revision', 1)),
  wrong('another leaf at the end of a stream', () => `update sealed_streams set ${flip('leaf')}`),
  wrong('other leaves', (size) => `update batches set ${flip('leaves')} where count > 0 and number < ${size}`),
  wrong('the newest leaf is missing', ...without('sealed_events', (_, last) => `revision = ${last}`)),
  wrong(
    'other nodes of the ledger tree',
    (size) => `update ledger_nodes set ${flip('hash')} where (index + 1) << level <= ${size}`,
  ),
  wrong(
    'other headers',
    () => `update batches set header = replace(header, '"v":1', '"v":2')`,
    () => `update batches set header = replace(header, '"v":2', '"v":1')`,
  ),
  wrong(
    'a later time of the newest batch',
    (size) => `update batches set sealed_at = sealed_at + interval '1 hour' where number = ${size - 1}`,
    (size) => `update batches set sealed_at = sealed_at - interval '1 hour' where number = ${size - 1}`,
  ),
  wrong('tables that are behind', ...shifted('sealer_state', 'ledger_revision', -1)),
  wrong('tables that are ahead', ...shifted('sealer_state', 'ledger_revision', 1)),
];

test.each(WRONG)('%s for a while: the ledger goes on, and no one finds a trace', async (_, altered, restored) => {
  const size = await count(pipeline.owner, 'batches');
  const last = await pipeline.eventLog.lastRevision(consentsStream(site));
  const before = await pipeline.eventLog.lastRevision(LEDGER_STREAM);
  await alter(altered(size, last));
  await consent();
  let failures = 0;
  const logger = {
    ...silent,
    warn: () => {
      failures += 1;
    },
  };
  // Either the wrong row was met, or it did not matter: a batch was sealed and stamped.
  await whileRunning(parts(logger), () =>
    until(async () => failures > 0 || (await pipeline.eventLog.lastRevision(LEDGER_STREAM)) >= before + 2),
  ).catch((error: unknown) => expect(error).toBeInstanceOf(LogBehind));
  await alter(restored(size, last));
  await consent();
  await whileRunning(parts(), () => until(isStamped));
  await catchUpLedger(pipeline.worker, pipeline.eventLog, { from: emptyLedger() });
  expect(await audited()).toEqual([]);
});

const ofRecord = (id: string) => `event_id = '${id}'`;

test.each<readonly [string, (id: string, erasure: string) => string, (id: string) => string]>([
  [
    'another tag',
    (id) => `update sealed_events set ${flip('person_tag')} where ${ofRecord(id)}`,
    (id) => `update sealed_events set ${flip('person_tag')} where ${ofRecord(id)}`,
  ],
  [
    'its erasure already, by another leaf,',
    (_, erasure) => `create table kept as select * from sealed_events where revision = 0;
      update sealed_events set person_tag = '\\x${erasure}' where revision = 0`,
    () =>
      'update sealed_events l set person_tag = k.person_tag from kept k where l.event_id = k.event_id; drop table kept',
  ],
])(
  'an erased record has %s for a while: its erasure is sealed with the tag of the record',
  async (_, altered, restored) => {
    const record = newConsent(site);
    const stream = consentsStream(site);
    const append = async (event: NewEvent) =>
      pipeline.eventLog.append(stream, await pipeline.eventLog.lastRevision(stream), [event]);
    await append(record);
    await consent();
    await whileRunning(parts(), () => until(isStamped));
    const tagOf = async (id: string) =>
      TagRows.parse((await pipeline.owner.query('select person_tag from leaves where event_id = $1', [id])).rows)[0]
        .person_tag;
    await alter(altered(record.id, toHex(erasureTag(record.id))));
    const erasure = newErasure(site, record.id);
    await append(erasure);
    let failures = 0;
    const logger = {
      ...silent,
      warn: () => {
        failures += 1;
      },
    };
    await whileRunning(parts(logger), () => until(async () => failures > 0 || (await isStamped())));
    await alter(restored(record.id));
    await whileRunning(parts(), () => until(isStamped));
    expect(toHex(await tagOf(erasure.id))).toBe(toHex(erasureTag(record.id)));
  },
);

test('a later time of the newest time stamp does not keep the next one away', async () => {
  const size = await count(pipeline.owner, 'batches');
  const later = (sign: '+' | '-') =>
    `update checkpoint_tokens set gen_time = gen_time ${sign} interval '1 day' where size = ${size}`;
  await alter(later('+'));
  await consent();
  await whileRunning(parts(), () => until(isStamped));
  await alter(later('-'));
  expect(await audited()).toEqual([]);
});

test('a position in the log that was too late for a while leaves no event unsealed', async () => {
  const own = await startPipeline();
  const { owner, worker: db, eventLog } = own;
  try {
    const [quiet, busy] = [randomUUID(), randomUUID()];
    const append = async (of: string) => {
      const stream = consentsStream(of);
      const revision = await eventLog.lastRevision(stream);
      await eventLog.append(stream, revision, [newConsent(of)]);
    };
    const sealer = () =>
      createSealer({
        db,
        eventLog,
        logger: silent,
        signer,
        pollMs: 20,
        keyring: testKeyring,
        limits: { maxLeaves: 8, maxAgeMs: 20 },
      });
    const sealed = (leaves: number) => until(async () => (await count(owner, 'leaves')) === leaves);
    await append(quiet);
    await append(busy);
    await whileRunning([sealer()], () => sealed(2));
    await append(quiet);
    const { next } = await eventLog.readAll(null, 100);
    await owner.query('update sealer_state set log_position = $1', [next]);
    await append(busy);
    await whileRunning([sealer()], () => sealed(4));
  } finally {
    await own.close();
  }
});

test('a position after the end of the log, at the start of the sealer, leaves no later event unsealed', async () => {
  const own = await startPipeline();
  const { owner, worker: db, eventLog } = own;
  try {
    await eventLog.append(consentsStream(site), -1, [newConsent(site)]);
    const { next } = await eventLog.readAll(null, 100);
    const sealer = createSealer({
      db,
      eventLog,
      logger: silent,
      signer,
      pollMs: 20,
      keyring: testKeyring,
      limits: { maxLeaves: 8, maxAgeMs: 20 },
      lookEveryMs: 100,
    });
    await whileRunning([sealer], () => until(async () => (await count(owner, 'leaves')) === 1));
    const late = String(Number(next) + 9).padStart(next?.length ?? 0, '0');
    await owner.query('update sealer_state set log_position = $1', [late]);
    await whileRunning([sealer], async () => {
      await until(() => sealer.status().leader === true);
      await eventLog.append(consentsStream(site), 0, [newConsent(site)]);
      await until(async () => (await count(owner, 'leaves')) === 2);
    });
  } finally {
    await own.close();
  }
});

test('an erasure whose record the log has lost is sealed', async () => {
  const own = await startPipeline();
  const { owner, worker: db, eventLog } = own;
  try {
    const [damaged, sound] = [consentsStream(site), randomUUID()];
    const soundStream = consentsStream(sound);
    const record = newConsent(site);
    await eventLog.append(damaged, -1, [record, newConsent(site)]);
    await eventLog.append(soundStream, -1, [newConsent(sound)]);
    const sealer = () =>
      createSealer({
        db,
        eventLog,
        logger: silent,
        signer,
        pollMs: 20,
        keyring: testKeyring,
        limits: { maxLeaves: 8, maxAgeMs: 20 },
      });
    const sealed = (leaves: number) => until(async () => (await count(owner, 'leaves')) === leaves);
    await whileRunning([sealer()], () => sealed(3));
    await eventLog.append(damaged, 1, [newErasure(site, record.id)]);
    await eventLog.append(soundStream, 0, [newConsent(sound)]);
    for (const statement of damageSql(`delete from event_log.events where id = '${record.id}'`))
      await owner.query(statement);
    await whileRunning([sealer()], () => sealed(5));
  } finally {
    await own.close();
  }
});

/** Audits the ledger, apart from the identity of the log, which this test does not bind. */
async function audited(): Promise<readonly Finding[]> {
  const findings = collectFindings();
  const { owner: db, eventLog } = pipeline;
  await auditLedger({ db, eventLog, findings, step: async () => undefined });
  return findings.all.filter(({ table }) => table !== 'event_log_identity');
}

test('an event that cannot be applied is found by an audit, and is skipped for the record', async () => {
  const { worker: db, eventLog } = pipeline;
  const events = await eventLog.readStream(LEDGER_STREAM, 0, 1_000);
  const copyOf = (type: string): NewEvent => {
    const event = events.findLast((event) => event.type === type);
    if (event === undefined) throw new Error(`the ledger has no ${type}`);
    return { ...event, id: randomUUID() };
  };
  // As appended by a worker that read a wrong row.
  const bad = events.length;
  await eventLog.append(LEDGER_STREAM, bad - 1, [copyOf(CHECKPOINT_STAMPED), copyOf(BATCH_SEALED)]);
  await consent();
  await expect(whileRunning(parts(), () => new Promise(() => undefined))).rejects.toThrow(LedgerCorrupt);
  expect(await audited()).toMatchObject([{ kind: 'ledger-corrupt', key: LEDGER_STREAM }]);

  const records: LedgerEventSkippedBody[] = [];
  const skip = (revision: number) =>
    skipLedgerEvent(
      db,
      eventLog,
      revision,
      () => new Date(),
      async (body) => {
        records.push(body);
      },
    );
  expect(await skip(bad - 1)).toBeNull();
  expect(await skip(bad + 1)).toBeNull();
  expect(records).toEqual([]);
  expect(await skip(bad)).toMatchObject({
    body: { revision: bad, type: CHECKPOINT_STAMPED },
    next: { revision: bad + 1 },
  });
  expect(await skip(bad + 1)).toMatchObject({ body: { revision: bad + 1, type: BATCH_SEALED }, next: null });
  expect(await skip(bad + 1)).toBeNull();
  expect(records.map(({ revision }) => revision)).toEqual([bad, bad + 1]);

  await whileRunning(parts(), () => until(isStamped));
  await consent();
  await whileRunning(parts(), () => until(isStamped));
  expect(await audited()).toEqual([]);
  const { revision } = await catchUpLedger(db, eventLog, { from: emptyLedger() });
  expect((await catchUpLedger(db, eventLog)).revision).toBe(revision);
  expect(await count(pipeline.owner, 'ledger_events')).toBe(revision + 1);
});

test('an event that was applied cannot be skipped', async () => {
  const { worker: db, eventLog } = pipeline;
  const state = await catchUpLedger(db, eventLog);
  const [event] = await eventLog.readStream(LEDGER_STREAM, state.revision, 1);
  const body: LedgerEventSkippedBody = {
    v: 1,
    created_at: new Date().toISOString(),
    revision: state.revision,
    event_id: event?.id ?? '',
    type: event?.type ?? '',
    sha256: toHex(sha256(event?.data ?? new Uint8Array())),
    reason: 'it is unwelcome',
  };
  await expect(tryAppendToLedger(eventLog, state, ledgerEvent(LEDGER_EVENT_SKIPPED, body))).rejects.toThrow(
    LedgerRefused,
  );
  expect(
    await skipLedgerEvent(
      db,
      eventLog,
      state.revision,
      () => new Date(),
      async () => undefined,
    ),
  ).toBeNull();
});
