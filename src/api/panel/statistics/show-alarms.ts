import * as z from 'zod';
import { ALARM_KINDS, type Alarm } from '../../../../schemas/api/panel/statistics.js';
import type { Config } from '../../../platform/config/index.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { type RowSeals, sealed, sealedRow, sealedRows } from '../../../platform/keys/index.js';
import { subscriptionOf } from '../plans/show-usage.js';
import { timestampStatus } from '../timestamps/status.js';

type Shown = z.infer<typeof Alarm>;

const SiteRows = z.array(z.object({ id: z.string(), site: sealedRow('sites'), quarantined_at: z.date().nullable() }));
const Nothing = z.object({});

/** The conditions of a tenant that need attention, in the order of `ALARM_KINDS`. */
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
    const isUnaltered = (await seals.open(row.site, Nothing)) !== null;
    return [
      ...(isUnaltered ? [] : [{ kind: 'row_altered' as const, site_id, since: null }]),
      ...(since === null ? [] : [{ kind: 'site_quarantined' as const, site_id, since: since.toISOString() }]),
    ];
  });
  return (await Promise.all(alarms)).flat();
}

async function alteredPlan(db: Queryable, seals: RowSeals, tenantId: string): Promise<readonly Shown[]> {
  const [row] = await sealedRows(db, { table: 'subscriptions', where: 'tenant_id = $1', values: [tenantId] });
  if (row === undefined || (await seals.open(row, Nothing)) !== null) return [];
  return [{ kind: 'row_altered', site_id: null, since: null }];
}

/** Overdue by the delays that the ledger's policy promises for sealing and stamping together. */
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
