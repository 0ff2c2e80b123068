import type pg from 'pg';
import * as z from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import { LEDGER_POLICY_SET } from '../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { LEDGER_STREAM, POLICY_STREAM } from '../../schemas/events/streams.js';
import { RevisionGap } from '../pipeline/event-log/errors.js';
import { readLogIdentity } from '../pipeline/event-log/log-identity.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt, TablesDiffer } from '../pipeline/ledger/errors.js';
import type { FollowedLedger } from '../pipeline/ledger/ledger-state.js';
import { emptyLedger } from '../pipeline/ledger/open-ledger.js';
import { consentsStreamSql } from '../platform/database/shared-statements.js';
import { damagedLog, type Finding } from './finding.js';
import { PAGE, readPastGaps, type Section } from './section.js';
import { compareWithReplay, withReplay } from './shadow.js';

/** Tables that `catchUpLedger` fills from the log. */
const TABLES = {
  ledger_events: { key: ['revision'], columns: ['event_id', 'type', 'body'] },
  batches: { key: ['number'], columns: ['header', 'count', 'root', 'leaves', 'nodes', 'sealed_at'] },
  sealed_events: { key: ['stream', 'revision'], columns: ['batch', 'index', 'event_id', 'person_tag'] },
  ledger_nodes: { key: ['level', 'index'], columns: ['hash'] },
  sealed_streams: { key: ['number'], columns: ['stream', 'revision', 'leaf'] },
  checkpoint_tokens: {
    key: ['size', 'number'],
    columns: ['note', 'tsr', 'tsr_sha256', 'gen_time', 'authority', 'organization', 'certificates', 'crls', 'ocsp'],
  },
  checkpoints: {
    key: ['size'],
    columns: ['note', 'tokens', 'gen_time', 'authorities', 'certificates', 'crls', 'ocsp'],
  },
  evidence_parts: { key: ['sha256', 'parts', 'part'], columns: ['kind', 'bytes'] },
  ledger_keys: {
    key: ['key'],
    columns: ['ml_dsa_key', 'replaces', 'announced_in', 'handover_size', 'published_at', 'salt_key'],
  },
} as const;

/** Dependencies of this section. */
export type LedgerSection = Pick<Section, 'db' | 'eventLog' | 'findings' | 'now' | 'step'>;

/** Events of the ledger that one transaction of the replay applies. */
const STEP = 20;

/**
 * Replays the stream of the ledger into temporary tables, by the code of the sealer, and compares them
 * with the live ones as of the revision that those have reached.
 */
export async function auditLedger(section: LedgerSection): Promise<void> {
  const { db, findings } = section;
  await auditIdentity(section);
  await auditPolicies(section);
  const schema = await schemaOf(db);
  await withReplay(db, async (client) => {
    // Read before the tables exist that hide those of the service: then it names both alike.
    const [{ leaves }] = ViewRows.parse(
      (await client.query(`select pg_get_viewdef('leaves'::regclass) as leaves`)).rows,
    );
    await client.query(
      Object.keys(TABLES)
        .map((name) => `create temporary table ${name} (like ${schema}.${name} including all)`)
        .concat(
          `create temporary view leaves as ${leaves}`,
          `create temporary table sealer_state (like ${schema}.sealer_state including all)`,
          'insert into sealer_state (ledger_revision) values (-1)',
        )
        .join(';'),
    );
    const live = async (on: pg.Pool | pg.PoolClient) =>
      StateRows.parse((await on.query(`select ledger_revision, log_position from ${schema}.sealer_state`)).rows)[0];
    const replay = createReplay(section, client);
    const isSound = await replay.to((await live(db))?.ledger_revision ?? -1);
    await client.query('begin isolation level repeatable read');
    const state = await live(client);
    const revision = state?.ledger_revision ?? -1;
    const isComplete = isSound && (await replay.to(revision, true));
    const reached = StateRows.parse(
      (await client.query('select ledger_revision, log_position from sealer_state')).rows,
    )[0];
    if (state === undefined || (isComplete && reached?.ledger_revision !== revision))
      findings.add({
        kind: 'derived-differs',
        table: 'sealer_state',
        key: 'true',
        columns: ['ledger_revision'],
        detail: `the table is at revision ${revision}, and the log ends at ${reached?.ledger_revision ?? -1}`,
      });
    if (isComplete) {
      let done = 0;
      for (const [name, table] of Object.entries(TABLES)) {
        await compareWithReplay(
          client,
          { live: `${schema}.${name}`, shadow: `pg_temp.${name}`, name, ...table },
          findings.add,
          async (rows) => {
            done += rows;
            await section.step(done, null);
          },
        );
      }
    }
    await client.query('commit');
    // A worker that starts now follows the stream to its end, so the tables may show less than it meets.
    if (isComplete) await replay.to(await section.eventLog.lastRevision(LEDGER_STREAM));
  });
  await auditTags(section);
  await auditPromises(section);
}

const StateRows = z.array(z.object({ ledger_revision: z.number(), log_position: z.string().nullable() }));
const ViewRows = z.tuple([z.object({ leaves: z.string() })]);
const SchemaRows = z.tuple([z.object({ name: z.string() })]);

/** Schema of the service's tables. */
async function schemaOf(db: pg.Pool): Promise<string> {
  const { rows } = await db.query(
    `select quote_ident(n.nspname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.oid = 'sealer_state'::regclass`,
  );
  return SchemaRows.parse(rows)[0].name;
}

interface Replay {
  /**
   * Follows the ledger, and fills the temporary tables.
   * @param isInside whether the client is in a transaction already
   * @returns false if the ledger does not verify, which is reported
   */
  to(revision: number, isInside?: boolean): Promise<boolean>;
}

function createReplay({ eventLog, findings, step }: LedgerSection, client: pg.PoolClient): Replay {
  let state: FollowedLedger = emptyLedger();
  return {
    to: async (revision, isInside = false) => {
      try {
        while (state.revision < revision) {
          const at = state.revision;
          if (!isInside) await client.query('begin');
          state = await catchUpLedger(client, eventLog, { from: state, last: Math.min(revision, at + STEP) });
          if (!isInside) await client.query('commit');
          if (state.revision === at) return true;
          if (!isInside) await step(state.revision + 1, revision + 1);
        }
        return true;
      } catch (error) {
        const finding = findingOf(error);
        if (finding === null) throw error;
        if (!isInside) await client.query('rollback');
        findings.add(finding);
        return false;
      }
    },
  };
}

/** @returns the finding about the log that a failed replay implies; null: none */
function findingOf(error: unknown): Omit<Finding, 'columns'> | null {
  if (error instanceof RevisionGap)
    return damagedLog(error, `${error.message} What the ledger has from there on was not compared.`);
  const isWrong = [LedgerCorrupt, TablesDiffer, InvalidEventBody, RangeError].some((kind) => error instanceof kind);
  if (!isWrong || !(error instanceof Error)) return null;
  return { kind: 'ledger-corrupt', table: 'event_log.events', key: LEDGER_STREAM, detail: error.message };
}

const TagRows = z.array(z.object({ tag: z.string(), places: z.string() }));

/** A tag that is sealed twice would let a package hide one of the two records. */
async function auditTags({ db, findings }: LedgerSection): Promise<void> {
  const { rows } = await db.query(
    `select encode(person_tag, 'hex') as tag, string_agg(s.stream || ' ' || e.revision, ', ' order by e.batch, e.index) as places
       from sealed_events e join sealed_streams s on s.number = e.stream
      where e.person_tag in (select person_tag from sealed_events group by person_tag having count(*) > 1)
      group by e.person_tag order by 1 limit ${PAGE}`,
  );
  for (const { tag, places } of TagRows.parse(rows))
    findings.add({
      kind: 'ledger-corrupt',
      table: 'sealed_events',
      key: tag,
      columns: ['person_tag'],
      detail: `the tag is sealed more than once: ${places}`,
    });
}

const IdentityRows = z.array(z.object({ log_id: z.string() }));

async function auditIdentity({ db, eventLog, findings }: LedgerSection): Promise<void> {
  const [row] = IdentityRows.parse((await db.query('select log_id from event_log_identity')).rows);
  const found = await readLogIdentity(eventLog).catch(() => null);
  if (row === undefined || row.log_id === found) return;
  findings.add({
    kind: 'derived-differs',
    table: 'event_log_identity',
    key: 'true',
    columns: ['log_id'],
    detail: 'the database belongs to another log, or the first event of the log was altered',
  });
}

const PolicyRows = z.array(
  z.object({ revision: z.number(), event_id: z.string(), type: z.string(), body: z.instanceof(Uint8Array) }),
);

const SealedRows = z.array(z.object({ revision: z.number() }));

async function auditPolicies({ db, eventLog, findings }: LedgerSection): Promise<void> {
  const stored = PolicyRows.parse(
    (await db.query('select revision, event_id, type, body from ledger_policies order by revision')).rows,
  );
  const events = new Map<number, { id: string; type: string; data: Uint8Array }>();
  for (let next = 0; ; ) {
    const page = await readPastGaps(eventLog, POLICY_STREAM, next, 200);
    for (const { revision, id, type, data } of page) events.set(revision, { id, type, data });
    const last = page.at(-1);
    if (last === undefined) break;
    next = last.revision + 1;
  }
  const table = 'ledger_policies';
  for (const { revision, event_id: id, type, body } of stored) {
    const event = events.get(revision);
    events.delete(revision);
    const columns = [
      ...(event?.id === id ? [] : ['event_id']),
      ...(event?.type === type ? [] : ['type']),
      ...(event !== undefined && toHex(event.data) === toHex(body) ? [] : ['body']),
    ];
    if (columns.length > 0)
      findings.add({
        kind: 'derived-differs',
        table,
        key: String(revision),
        columns: event === undefined ? [] : columns,
        detail: event === undefined ? 'the log gives no such row' : 'the stream of policies has another event',
      });
  }
  // Each process stores a policy before it seals anything.
  const [sealed] = SealedRows.parse(
    (await db.query('select revision from sealed_streams where stream = $1', [POLICY_STREAM])).rows,
  );
  for (const revision of events.keys()) {
    if (sealed === undefined || revision > sealed.revision) continue;
    const detail = 'the row that the log gives is missing';
    findings.add({ kind: 'derived-differs', table, key: String(revision), detail });
  }
}

/** Verifiers grant this to clocks (docs/evidence-format.md). */
const TOLERANCE_SECONDS = 300;

const PromisingPolicyRows = z.array(z.object({ body: z.instanceof(Uint8Array) }));
const LateRows = z.array(z.object({ event_id: z.string(), seconds: z.number() }));

/**
 * Lists consents that were sealed later than the most patient policy so far allows, and those that wait
 * longer.
 */
async function auditPromises({ db, findings, now }: Pick<Section, 'db' | 'findings' | 'now'>): Promise<void> {
  const { rows } = await db.query('select body from ledger_policies order by revision');
  const limits = PromisingPolicyRows.parse(rows).flatMap(({ body }) => secondsOf(body));
  if (limits.length === 0) return;
  const seconds = Math.max(...limits);
  const late = await db.query(
    `select c.event_id, extract(epoch from coalesce(b.sealed_at, $2) - c.created_at)::float8 as seconds
       from read_model.consents c
       left join leaves l on l.stream = ${consentsStreamSql('c.site_id')} and l.revision = c.revision
       left join batches b on b.number = l.batch
      where coalesce(b.sealed_at, $2) > c.created_at + $1 * interval '1 second'
      order by c.created_at limit ${PAGE}`,
    [seconds + TOLERANCE_SECONDS, now()],
  );
  for (const row of LateRows.parse(late.rows))
    findings.add({
      kind: 'promise-broken',
      table: 'read_model.consents',
      key: row.event_id,
      detail: `a batch within ${seconds} seconds was promised, and it took ${Math.round(row.seconds)}`,
    });
}

function secondsOf(body: Uint8Array): readonly number[] {
  try {
    const { record } = parseBody(PublicEventBody, LEDGER_POLICY_SET, body);
    return [parseRecord(LEDGER_POLICY_SET, record).seal_within_seconds];
  } catch (error) {
    // Altered: the comparison with the stream of policies reports it.
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return [];
    throw error;
  }
}
