import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { openAudit } from '../../src/app/open-audit.js';
import type { Service } from '../../src/app/start-service.js';
import { runAudit } from '../../src/audit/audit.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, seedIn, startApp, startRole } from '../api/server/running-app.js';
import { recordManyConsents } from '../support/recorded-consents.js';
import { useEverything, whenSettled } from './audited-installation.js';

/** Consents that are there before: a statement that reads them all is told from one that reads a page. */
const CONSENTS = 12_000;
/** A statement that reads fewer rows than this reads no large table. */
const FEW = CONSENTS / 3;
/** Statements read other rows in the second round, but about as many. */
const ALIKE = 3;

/** A node of a plan, as far as it tells how many rows were read. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string | undefined;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number | undefined;
  readonly 'Rows Removed by Index Recheck'?: number | undefined;
  readonly 'Rows Removed by Join Filter'?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}
const PlanNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    'Rows Removed by Join Filter': z.number().optional(),
    Plans: z.array(PlanNode).optional(),
  }),
);
const Explained = z.object({ 'Query Text': z.string(), Plan: PlanNode });
const Notice = z.object({ message: z.string() });

/** Rows that a plan read from tables, or compared in a join, each as often as it did so. */
function rowsRead(node: PlanNode): number {
  // No table of the system grows with the consents, nor what is joined of them and of lists of names.
  if (!growsWithConsents(node)) return 0;
  const own =
    (node['Relation Name'] === undefined ? 0 : node['Actual Rows']) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0);
  return own * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
}

function growsWithConsents({ 'Node Type': type, 'Relation Name': table, Plans = [] }: PlanNode): boolean {
  if (table !== undefined) return !table.startsWith('pg_');
  return Plans.length > 0 ? Plans.some(growsWithConsents) : type !== 'Function Scan';
}

/** The text of a statement without its values. */
const shapeOf = (text: string): string =>
  text
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/\b\d+\b/g, '?')
    .replace(/\s+/g, ' ')
    .trim();

let app: RunningApp;
let later: Service | undefined;
/** The most rows that each statement read in one execution. */
let reads = new Map<string, number>();

beforeAll(async () => {
  app = await startApp('serve', { WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const shop = await RecordingTenant.of(app);
  const sites = {
    tenantId: shop.backend.demo.tenant_id,
    siteIds: [shop.siteId],
    documentVersionId: shop.backend.version('cookie_policy'),
  };
  await recordManyConsents(app.superuser, app.service.installation.keyring, sites, CONSENTS);
  await whenSettled(app);
  const { config, databaseUrl } = app.service.installation;
  await app.service.stop();
  const name = pg.escapeIdentifier(new URL(databaseUrl).pathname.slice(1));
  // Each session tells the plan of each statement, also of those within functions, with what it really read.
  for (const [setting, value] of Object.entries({
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  }))
    await app.superuser.query(`alter database ${name} set ${setting} = ${pg.escapeLiteral(value)}`);
  const emit = pg.Client.prototype.emit;
  vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...values) {
    if (event === 'notice') note(values[0]);
    return emit.call(this, event, ...values);
  });
  const service = await startRole('serve', config, pino({ level: 'silent' }));
  later = service;
  app = { ...app, service, url: service.url, seed: (options) => seedIn(service, options) };
});
afterAll(async () => {
  vi.restoreAllMocks();
  await later?.stop();
  await app?.stop();
});

function note(notice: unknown): void {
  const [, plan] = /^duration: .*? plan:\n(.*)$/s.exec(Notice.parse(notice).message) ?? [];
  if (plan === undefined) return;
  const { 'Query Text': text, Plan } = Explained.parse(JSON.parse(plan));
  const shape = shapeOf(text);
  reads.set(shape, Math.max(reads.get(shape) ?? 0, rowsRead(Plan)));
}

/** Uses the whole service, and audits it. @returns the most rows that each statement read */
async function round(): Promise<ReadonlyMap<string, number>> {
  reads = new Map();
  await useEverything(app);
  await whenSettled(app);
  const audit = await openAudit(app.service.installation.config, pino({ level: 'silent' }));
  try {
    expect((await runAudit(audit.parts)).findings).toEqual([]);
  } finally {
    await audit.close();
  }
  return reads;
}

it('reads as many rows by each statement with statistics of an empty database as with those of a full one', async () => {
  const { rows } = await app.superuser.query(
    `select format('alter table %s set (autovacuum_enabled = false)', c.oid::regclass) as sql
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and (n.nspname in ('public', 'event_log') or n.nspname like 'rm\\_%')`,
  );
  for (const { sql } of z.array(z.object({ sql: z.string() })).parse(rows)) await app.superuser.query(sql);
  await app.superuser.query(`delete from pg_statistic where starelid >= 16384;
    update pg_class set reltuples = -1, relpages = 0 where oid >= 16384 and relkind in ('r', 'i')`);
  const empty = await round();
  await app.superuser.query('analyze');
  const full = await round();
  const common = [...empty.keys()].filter((shape) => full.has(shape));
  // Most statements of the program are among them.
  expect(common.length).toBeGreaterThan(300);
  const different = common.flatMap((shape) => {
    const [with_none, with_all] = [empty.get(shape) ?? 0, full.get(shape) ?? 0];
    const most = Math.max(with_none, with_all);
    return most > FEW && most > ALIKE * Math.min(with_none, with_all) ? [{ shape, with_none, with_all }] : [];
  });
  expect(different, JSON.stringify(different)).toEqual([]);
});
