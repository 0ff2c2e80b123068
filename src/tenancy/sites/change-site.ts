import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import { RetentionRules } from '../../../schemas/api/panel/sites.js';
import { noticesStream } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { putEvents } from '../../platform/database/shared-statements.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { isLapsed } from './proof-state.js';

/**
 * A locked site: until the transaction ends, no other transaction changes it or admits a consent
 * for it.
 */
export interface LockedSite {
  readonly db: Queryable;
  readonly siteId: string;
  readonly domain: string;
  /** Whether the tenant has proved control of the domain. */
  readonly isVerified: boolean;
  /** Whether its proof has failed for so long that scans and publications stop. */
  readonly isProofLapsed: boolean;
  /** The database's time, read under the lock: `YYYY-MM-DDTHH:MM:SS.sssZ`. */
  readonly now: string;
}

const SiteRows = z.array(
  z.object({
    id: z.string(),
    domain: z.string(),
    is_verified: z.boolean(),
    proof_looked_at: z.date().nullable(),
    proof_failing_since: z.date().nullable(),
  }),
);
const NowRow = z.tuple([z.object({ now: z.date() })]);

/**
 * Changes a site in one transaction. It locks the same row as admission, and increases
 * `config_revision`, so that no consent is evaluated with the old state.
 * @throws ChangeRefused `not_found`; errors of `change`
 */
export function changeSite<T>(db: Queryable, siteId: string, change: (site: LockedSite) => Promise<T>): Promise<T> {
  return changeSites(db, [siteId], (siteOf) => change(siteOf(siteId)));
}

/**
 * Changes several sites in one transaction, as `changeSite` does with one. It locks them in the order of their ids, as
 * admission does, so that the two cannot deadlock.
 * @param change receives a function that returns the locked site with an id of `siteIds`
 * @throws ChangeRefused `not_found`; errors of `change`
 */
export function changeSites<T>(
  db: Queryable,
  siteIds: readonly string[],
  change: (siteOf: (siteId: string) => LockedSite) => Promise<T>,
): Promise<T> {
  return withTransaction(db, async (db) => {
    const { rows } = await db.query(
      `select id, domain, verified_at is not null as is_verified, proof_looked_at, proof_failing_since from sites
        where id = any($1::uuid[]) order by id for no key update`,
      [siteIds],
    );
    const clock = await db.query('select clock_timestamp() as now');
    const [{ now }] = NowRow.parse(clock.rows);
    const sites = new Map(
      SiteRows.parse(rows).map((row) => {
        const {
          id,
          domain,
          is_verified: isVerified,
          proof_looked_at: lookedAt,
          proof_failing_since: failingSince,
        } = row;
        const isProofLapsed = isLapsed({ lookedAt, failingSince });
        const site: LockedSite = { db, siteId: id, domain, isVerified, isProofLapsed, now: now.toISOString() };
        return [id, site];
      }),
    );
    const siteOf = (siteId: string): LockedSite => {
      const site = sites.get(siteId);
      if (site === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
      return site;
    };
    for (const siteId of siteIds) siteOf(siteId);
    const result = await change(siteOf);
    await db.query('update sites set config_revision = config_revision + 1 where id = any($1::uuid[])', [siteIds]);
    return result;
  });
}

/** The first members of every notice record. */
export function noticeHead(site: LockedSite) {
  return { v: 1, event_id: uuidV7(), site_id: site.siteId, created_at: site.now } as const;
}

/**
 * Stores an event of the site's notices, in the transaction of the change.
 * @returns the exact text of the record
 */
export async function putNotice<T extends JsonObject & { event_id: string }>(
  site: LockedSite,
  type: string,
  schema: z.ZodType<T>,
  record: T,
): Promise<string> {
  const text = canonicalJson(schema.parse(record));
  const data = Buffer.from(JSON.stringify({ record: text }), 'utf8');
  await putEvents(site.db, site.siteId, noticesStream(site.siteId), [{ id: record.event_id, type, data }]);
  return text;
}

const RULES = RetentionRules.keyof().options;

/** The columns of `sites` that hold its retention rules, by their names. */
export const RETENTION_COLUMNS = RULES.join(', ');

/**
 * Sets the retention rules of a site. Older records are then erased irreversibly.
 * @returns each rule with its value before and after
 * @throws ChangeRefused `not_found`, `invalid`
 */
export function changeRetentionPeriod(db: Queryable, siteId: string, rules: RetentionRules) {
  const checked = accepted(RetentionRules, rules);
  return changeSite(db, siteId, async ({ db }) => {
    const before = await retentionOf(db, siteId);
    await setRetention(db, siteId, checked);
    return Object.fromEntries(RULES.map((rule) => [rule, { before: before[rule], after: checked[rule] }]));
  });
}

/** Reads the retention rules of an existing site. */
export async function retentionOf(db: Queryable, siteId: string): Promise<RetentionRules> {
  const { rows } = await db.query(`select ${RETENTION_COLUMNS} from sites where id = $1`, [siteId]);
  return z.tuple([RetentionRules]).parse(rows)[0];
}

/** Stores the retention rules of a site. @param db a handle in a transaction, which seals the row */
export async function setRetention(db: Queryable, siteId: string, rules: RetentionRules): Promise<void> {
  const changes = RULES.map((rule, place) => `${rule} = $${place + 2}`).join(', ');
  await db.query(`update sites set ${changes} where id = $1`, [siteId, ...RULES.map((rule) => rules[rule])]);
}
