import type pg from 'pg';
import * as z from 'zod';
import { InvalidEventBody } from '../../schemas/events/sealed-event.js';
import { LEDGER_STREAM, POLICY_STREAM } from '../../schemas/events/streams.js';
import { RevisionGap } from '../pipeline/event-log/errors.js';
import { readLogIdentity } from '../pipeline/event-log/log-identity.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt, TablesDiffer } from '../pipeline/ledger/errors.js';
import type { FollowedLedger } from '../pipeline/ledger/ledger-state.js';
import { emptyLedger } from '../pipeline/ledger/open-ledger.js';
import { storePolicies } from '../pipeline/ledger/policy.js';
import { damagedLog, type Finding } from './finding.js';
import { PAGE, readPastGaps, type Section } from './section.js';
import { compareWithLog, withReplay } from './shadow.js';

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

const POLICIES = { name: 'ledger_policies', key: ['revision'], columns: ['event_id', 'type', 'body'] };

/** Dependencies of this section. */
export type LedgerSection = Pick<Section, 'db' | 'eventLog' | 'findings' | 'step'>;

/** Number of ledger events that one transaction of the replay applies. */
const STEP = 20;

/**
 * Replays the stream of the ledger into temporary tables, by the code of the sealer, and compares them
 * with the live ones as of the revision that those have reached.
 */
export async function auditLedger(section: LedgerSection): Promise<void> {
  const { db, findings } = section;
  await auditIdentity(section);
  const schema = await schemaOf(db);
  await withReplay(db, async (client) => {
    // Read before the tables exist that hide those of the service: then it names both alike.
    const [{ leaves }] = ViewRows.parse(
      (await client.query(`select pg_get_viewdef('leaves'::regclass) as leaves`)).rows,
    );
    // The tables lack the indexes that the replay does not use, because these would cost more than the rows.
    const like = (name: string, key: readonly string[]): string =>
      `create temporary table ${name} (like ${schema}.${name} including all excluding indexes, primary key (${key.join(', ')}))`;
    await client.query(
      Object.entries(TABLES)
        .map(([name, { key }]) => like(name, key))
        .concat(
          like(POLICIES.name, POLICIES.key),
          'create unique index on pg_temp.sealed_streams (stream)',
          'create index on pg_temp.sealed_events (batch)',
          `create temporary view leaves as ${leaves}`,
          `create temporary table sealer_state (like ${schema}.sealer_state including all)`,
          'insert into sealer_state (ledger_revision) values (-1)',
        )
        .join(';'),
    );
    await auditPolicies(section, client, schema);
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
        // Without statistics, each range could be joined by a pass over the whole table.
        await client.query(`analyze pg_temp.${name}`);
        const compared = { live: `${schema}.${name}`, expected: `pg_temp.${name}`, ...table };
        await compareWithLog(section, client, { name, ...compared }, async (rows) => {
          done += rows;
          await section.step(done, null);
        });
      }
    }
    await client.query('commit');
    // A worker that starts now follows the stream to its end, so the tables may lag behind what it reads.
    if (isComplete) await replay.to(await section.eventLog.lastRevision(LEDGER_STREAM));
  });
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
   * @param isInside whether the client is already in a transaction
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

/** @returns the finding about the log that a failed replay implies, or null if there is none */
function findingOf(error: unknown): Omit<Finding, 'columns'> | null {
  if (error instanceof RevisionGap)
    return damagedLog(error, `${error.message} What the ledger has from there on was not compared.`);
  const isWrong = [LedgerCorrupt, TablesDiffer, InvalidEventBody, RangeError].some((kind) => error instanceof kind);
  if (!isWrong || !(error instanceof Error)) return null;
  return { kind: 'ledger-corrupt', table: 'event_log.events', key: LEDGER_STREAM, detail: error.message };
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

/**
 * Compares the stored policies with their stream. Each process stores a policy before it seals anything:
 * only those that are not sealed yet may be missing.
 */
async function auditPolicies(section: LedgerSection, client: pg.PoolClient, schema: string): Promise<void> {
  // The stream may grow meanwhile, so it is read after the table.
  await client.query(`begin isolation level repeatable read; select from ${schema}.ledger_policies limit 1`);
  for (let next = 0; ; ) {
    const page = await readPastGaps(section.eventLog, POLICY_STREAM, next, PAGE);
    await storePolicies(client, page);
    const last = page.at(-1);
    if (last === undefined) break;
    next = last.revision + 1;
  }
  const compared = {
    ...POLICIES,
    live: `${schema}.ledger_policies`,
    expected: `(select * from pg_temp.ledger_policies p
      where revision <= (select revision from ${schema}.sealed_streams where stream = '${POLICY_STREAM}')
         or exists (select from ${schema}.ledger_policies l where l.revision = p.revision))`,
  };
  await compareWithLog(section, client, compared, (rows) => section.step(rows, null));
  await client.query('commit');
}
