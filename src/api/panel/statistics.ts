import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  ALARM_KINDS,
  type Alarm,
  AlarmsResponse,
  type ConsentStatistics,
  ConsentStatisticsQuery,
  ConsentStatisticsResponse,
  MAX_STATISTICS_DAYS,
} from '../../../schemas/api/panel/statistics.js';
import { DECISIONS } from '../../../schemas/events/consent-recorded.js';
import { OBJECTION_TYPE, OPT_OUT_TYPE } from '../../../schemas/law/acts.js';
import type { Config } from '../../platform/config/index.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, SealedTime, sealed, sealedRow, sealedRows } from '../../platform/keys/index.js';
import { BREAKDOWN_OPERATION } from './breakdown.js';
import { READERS } from './caller.js';
import { route } from './deps.js';
import { subscriptionOf } from './plans.js';
import { timestampStatus } from './timestamp-status.js';

const shared = { auth: 'panel', tag: 'Statistics', roles: READERS } as const;

/** Counts and alarms of the user's tenant. */
export const STATISTICS_OPERATIONS = [
  route({
    ...shared,
    id: 'readConsentStatistics',
    path: '/api/v1/statistics/consents',
    summary: 'Count the consents of each day by decision',
    description:
      'Days are those of UTC. The counts include erased records, because their decisions remain, and include a new record a moment after it was accepted.',
    query: ConsentStatisticsQuery,
    response: ConsentStatisticsResponse,
    errors: ['SITE_NOT_FOUND'],
    isCompressed: true,
    handle: async ({ user, query }, { apiPool, keyring }) => {
      const period = periodOf(query, new Date());
      return { data: await consentStatistics(apiPool, keyring, user.tenantId, { ...query, ...period }) };
    },
  }),
  route({
    ...shared,
    id: 'listAlarms',
    path: '/api/v1/alarms',
    summary: 'List the conditions that the tenant should know of',
    description:
      'An empty list means that none of the conditions was found now. Altered rows are looked for in the sites and the plan.',
    response: AlarmsResponse,
    handle: async ({ user }, { apiPool, config, keyring }) => ({
      data: [...(await alarmsOf(apiPool, config, keyring, user.tenantId))],
    }),
  }),
  BREAKDOWN_OPERATION,
];

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const FIRST_DAY = Date.parse('0001-01-01');

/** First and last day, ISO 8601. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/**
 * The period that a query asks for.
 * @param now determines the last day, unless the query names one
 * @throws ApiError VALIDATION_ERROR if it ends before it begins, or has more than 92 days
 */
export function periodOf(query: Pick<z.output<typeof ConsentStatisticsQuery>, 'from' | 'to'>, now: Date): Period {
  const to = query.to ?? dayOf(now.getTime());
  const last = Date.parse(to);
  const first =
    query.from === undefined ? Math.max(last - (DEFAULT_DAYS - 1) * DAY_MS, FIRST_DAY) : Date.parse(query.from);
  if (first > last) refuse('must not be before from');
  if ((last - first) / DAY_MS >= MAX_STATISTICS_DAYS) refuse(`must be within ${MAX_STATISTICS_DAYS} days of from`);
  return { from: dayOf(first), to };
}

function refuse(message: string): never {
  throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'to', message }] });
}

const CountRows = z.array(
  z.object({
    site_id: z.string(),
    day: z.iso.date(),
    decision: z.enum(DECISIONS),
    consents: z.int(),
    // The type if it answers no question, and nothing for all others.
    act: z.string(),
    imported: z.int(),
  }),
);
const ConflictRows = z.array(z.object({ site_id: z.string(), conflicts: z.int() }));
const Site = z.object({ id: z.string() });

/**
 * Counts the consents of a tenant. It reads the read model `daily_counts` by key: at most one row for each day,
 * decision and type of a site, however many records there are.
 * @throws ApiError SITE_NOT_FOUND if the tenant has no such site, or its row was altered
 */
export async function consentStatistics(
  db: Queryable,
  seals: RowSeals,
  tenantId: string,
  { from, to, ...filter }: Omit<z.output<typeof ConsentStatisticsQuery>, keyof Period> & Period,
): Promise<z.infer<typeof ConsentStatistics>> {
  const sites = await unalteredSites(db, seals, tenantId, filter.site_id ?? null);
  if (filter.site_id !== undefined && sites.length === 0) throw new ApiError('SITE_NOT_FOUND');
  const { rows } = await db.query(
    `select site_id, to_char(day, 'YYYY-MM-DD') as day, decision, sum(consents)::bigint as consents,
            case when consent_type = any($5) then consent_type else '' end as act,
            -- The read model of an earlier version has no such column, and answers until the new one is built.
            coalesce(sum((to_jsonb(c) ->> 'imported')::bigint), 0)::bigint as imported
       from read_model.daily_counts c
      where site_id = any($1::uuid[]) and day between $2::date and $3::date and ($4::text is null or consent_type = $4)
      group by site_id, day, decision, act`,
    [sites, from, to, filter.consent_type ?? null, [OPT_OUT_TYPE, OBJECTION_TYPE]],
  );
  const counts = new Map(daysOf({ from, to }).map((day) => [day, { ...NONE }]));
  let imports = 0;
  const acts = { [OPT_OUT_TYPE]: 0, [OBJECTION_TYPE]: 0 };
  let answered = 0;
  let accepted = 0;
  const ofSites = new Map(sites.map((id) => [id, 0]));
  for (const { site_id: site, day, decision, consents, act, imported } of CountRows.parse(rows)) {
    imports += imported;
    if (act === OPT_OUT_TYPE || act === OBJECTION_TYPE) acts[act] += consents;
    // Whoever accepts an opt-out refuses something.
    if (act !== '' && act !== filter.consent_type) continue;
    // A withdrawal is no answer.
    if (act === '' && decision !== 'withdrawn') answered += consents;
    if (act === '' && decision === 'accepted') accepted += consents;
    ofSites.set(site, (ofSites.get(site) ?? 0) + consents);
    const ofDay = counts.get(day);
    if (ofDay !== undefined) ofDay[decision] += consents;
  }
  const days = [...counts].map(([day, count]) => ({ day, ...withTotal(count) }));
  const totals = withTotal(days.reduce(added, NONE));
  const conflicts = await conflictsOf(db, sites);
  return {
    from,
    to,
    time_zone: 'UTC',
    days,
    totals,
    imported: imports,
    opt_outs: acts[OPT_OUT_TYPE],
    objections: acts[OBJECTION_TYPE],
    acceptance_rate: answered === 0 ? null : accepted / answered,
    sites: [...ofSites].map(([id, total]) => ({
      site_id: id,
      total,
      idempotency_conflicts: conflicts.get(id) ?? 0,
    })),
  };
}

/** Counts, by site, the idempotency keys that were reused with a different body in the last 30 days. */
async function conflictsOf(db: Queryable, sites: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query(
    `select site_id, count(*)::bigint as conflicts from idempotency_conflicts
      where site_id = any($1::uuid[]) and last_at > now() - interval '30 days' group by site_id`,
    [sites],
  );
  return new Map(ConflictRows.parse(rows).map(({ site_id: site, conflicts }) => [site, conflicts]));
}

async function unalteredSites(
  db: Queryable,
  seals: RowSeals,
  tenantId: string,
  siteId: string | null,
): Promise<readonly string[]> {
  const where = 'tenant_id = $1 and ($2::uuid is null or id = $2)';
  const rows = await sealedRows(db, { table: 'sites', where, values: [tenantId, siteId] });
  const sites = await Promise.all(rows.map((row) => seals.open(row, Site)));
  return sites.flatMap((site) => site?.id ?? []);
}

type Counts = Readonly<Record<(typeof DECISIONS)[number], number>>;
const NONE: Counts = { accepted: 0, partial: 0, rejected: 0, withdrawn: 0 };

function added(one: Counts, other: Counts): Counts {
  return {
    accepted: one.accepted + other.accepted,
    partial: one.partial + other.partial,
    rejected: one.rejected + other.rejected,
    withdrawn: one.withdrawn + other.withdrawn,
  };
}

function withTotal({ accepted, partial, rejected, withdrawn }: Counts): Counts & { readonly total: number } {
  return { accepted, partial, rejected, withdrawn, total: accepted + partial + rejected + withdrawn };
}

function daysOf({ from, to }: Period): readonly string[] {
  const first = Date.parse(from);
  return Array.from({ length: (Date.parse(to) - first) / DAY_MS + 1 }, (_, index) => dayOf(first + index * DAY_MS));
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

type Shown = z.infer<typeof Alarm>;

const SiteRows = z.array(z.object({ id: z.string(), site: sealedRow('sites'), quarantined_at: z.date().nullable() }));
const FailingSite = z.object({ proof_failing_since: SealedTime.nullable() });
const Nothing = z.object({});

/** Returns the conditions of a tenant that need attention, in the order of `ALARM_KINDS`. */
export async function alarmsOf(
  db: Queryable,
  config: Config,
  seals: RowSeals,
  tenantId: string,
): Promise<readonly Shown[]> {
  const alarms = [
    ...(await siteAlarms(db, seals, tenantId)),
    ...(await alteredPlan(db, seals, tenantId)),
    ...(await overdueStamp(db, config, tenantId)),
    ...(await planAlarms(db, tenantId)),
  ];
  return alarms.sort((one, other) => ALARM_KINDS.indexOf(one.kind) - ALARM_KINDS.indexOf(other.kind));
}

async function siteAlarms(db: Queryable, seals: RowSeals, tenantId: string): Promise<readonly Shown[]> {
  const { rows } = await db.query(
    `select s.id, q.quarantined_at, ${sealed('sites', 's')} as site
       from sites s left join quarantined_sites q on q.site_id = s.id where s.tenant_id = $1 order by s.id`,
    [tenantId],
  );
  const alarms = SiteRows.parse(rows).map(async (row): Promise<readonly Shown[]> => {
    const { id: site_id, quarantined_at: since } = row;
    const site = await seals.open(row.site, FailingSite);
    const failingSince = site?.proof_failing_since ?? null;
    return [
      ...(site !== null ? [] : [{ kind: 'row_altered' as const, site_id, since: null }]),
      ...(since === null ? [] : [{ kind: 'site_quarantined' as const, site_id, since: since.toISOString() }]),
      ...(failingSince === null
        ? []
        : [{ kind: 'domain_proof_failing' as const, site_id, since: failingSince.toISOString() }]),
    ];
  });
  return (await Promise.all(alarms)).flat();
}

async function alteredPlan(db: Queryable, seals: RowSeals, tenantId: string): Promise<readonly Shown[]> {
  const [row] = await sealedRows(db, { table: 'subscriptions', where: 'tenant_id = $1', values: [tenantId] });
  if (row === undefined || (await seals.open(row, Nothing)) !== null) return [];
  return [{ kind: 'row_altered', site_id: null, since: null }];
}

/**
 * Returns the alarm for events that have waited for a time stamp longer than the ledger's policy permits for sealing
 * and stamping together.
 */
async function overdueStamp(db: Queryable, config: Config, tenantId: string): Promise<readonly Shown[]> {
  const { sealWithinSeconds, stampWithinSeconds } = config.policy;
  const { unstamped_age_seconds: age } = await timestampStatus(db, config, tenantId);
  const overdueBy = (age ?? 0) - sealWithinSeconds - stampWithinSeconds;
  if (overdueBy <= 0) return [];
  return [{ kind: 'stamp_overdue', site_id: null, since: new Date(Date.now() - overdueBy * 1000).toISOString() }];
}

async function planAlarms(db: Queryable, tenantId: string): Promise<readonly Shown[]> {
  const { is_active: isActive, left_this_month: left } = await subscriptionOf(db, tenantId);
  if (!isActive) return [{ kind: 'plan_inactive', site_id: null, since: null }];
  return left === 0 ? [{ kind: 'quota_used_up', site_id: null, since: null }] : [];
}
