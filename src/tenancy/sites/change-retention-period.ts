import * as z from 'zod';
import { RetentionRules } from '../../../schemas/api/panel/sites.js';
import type { Queryable } from '../../platform/database/pool.js';
import { accepted } from '../../platform/errors.js';
import { changeSite } from './change-site.js';

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

/** Stores the retention rules of a site. @param db in a transaction, which seals the row */
export async function setRetention(db: Queryable, siteId: string, rules: RetentionRules): Promise<void> {
  const changes = RULES.map((rule, place) => `${rule} = $${place + 2}`).join(', ');
  await db.query(`update sites set ${changes} where id = $1`, [siteId, ...RULES.map((rule) => rules[rule])]);
}
