import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { SiteParams } from '../../../schemas/api/panel/common.js';
import {
  BreakdownQuery,
  type ConsentBreakdown,
  ConsentBreakdownResponse,
} from '../../../schemas/api/panel/statistics.js';
import { DECISIONS } from '../../../schemas/events/consent-recorded.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { answersQuestion } from '../../../schemas/law/acts.js';
import { lacksTable } from '../../platform/database/errors.js';
import type { Queryable } from '../../platform/database/pool.js';
import { READERS } from './caller.js';
import { route } from './deps.js';
import { allOrNothing, type ShownCount, withoutSmallCounts } from './small-counts.js';

/** The decisions of one month of a site, by one property. */
export const BREAKDOWN_OPERATION = route({
  auth: 'panel',
  tag: 'Statistics',
  roles: READERS,
  id: 'readConsentBreakdown',
  path: '/api/v1/sites/{site_id}/statistics',
  summary: 'Count the consents of a month by one property',
  description:
    'For the 100 most frequent values. No number below 10 is shown, nor follows from the totals of the month. Opt-outs and objections count only by `type`, imported consents not at all.',
  params: SiteParams,
  query: BreakdownQuery,
  response: ConsentBreakdownResponse,
  isCompressed: true,
  handle: async ({ params, query }, { apiPool }) => {
    const last = lastMonth(new Date());
    const { by, month = last } = query;
    if (month > last) {
      throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'month', message: 'must be over' }] });
    }
    return { data: await breakdownOf(apiPool, params.site_id, by, month) };
  },
});

/** The last month of UTC that is over, for example `2026-03`. */
export function lastMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}

const Rows = z.array(z.object({ value: z.string(), decision: z.enum(DECISIONS), consents: z.int() }));
type Breakdown = z.infer<typeof ConsentBreakdown>;

async function breakdownOf(db: Queryable, siteId: string, by: Breakdown['by'], month: string): Promise<Breakdown> {
  const counts = await countsOf(db, siteId, by, `${month}-01`);
  // Nobody decides on a required category.
  if (by === 'category') for (const key of await requiredCategories(db, siteId)) counts.delete(key);
  const columns = by === 'category' ? (['accepted', 'rejected'] as const) : DECISIONS;
  const table = [...counts.values()].map((ofValue) => columns.map((decision) => ofValue.get(decision) ?? 0));
  // Of the other properties each consent has one value, and the overview has the sums of the columns.
  const shown = by === 'category' ? allOrNothing(table) : withoutSmallCounts(table);
  const rows = [...counts.keys()].map((value, place) => {
    const ofValue = new Map(columns.map((decision, column) => [decision, shown[place]?.[column] ?? 'not_shown']));
    const cell = (decision: (typeof DECISIONS)[number]) => ofValue.get(decision) ?? null;
    const [accepted, rejected] = [cell('accepted') ?? 'not_shown', cell('rejected') ?? 'not_shown'];
    const partial = cell('partial');
    const rate = by === 'type' && !answersQuestion(value) ? null : rateOf([accepted, rejected, partial ?? 0]);
    return { value, accepted, partial, rejected, withdrawn: cell('withdrawn'), acceptance_rate: rate };
  });
  return { month, by, rows };
}

function rateOf(answers: readonly ShownCount[]): number | null {
  const numbers = answers.filter((count) => typeof count === 'number');
  const [accepted = 0] = numbers;
  return numbers.length < answers.length ? null : accepted / numbers.reduce((one, other) => one + other, 0);
}

const Categories = z.array(z.object({ record: z.string() })).max(1);

/** The categories that visitors cannot refuse, in the configuration in force. */
async function requiredCategories(db: Queryable, siteId: string): Promise<readonly string[]> {
  const { rows } = await db.query(
    'select c.record from sites s join site_configs c on c.sha256 = s.site_config_hash where s.id = $1',
    [siteId],
  );
  const [row] = Categories.parse(rows);
  if (row === undefined) return [];
  return parseSiteConfig(row.record).categories.flatMap(({ key, required }) => (required ? [key] : []));
}

/** Values that a table has at most, the most frequent ones: the types of consents are the caller's own words. */
const MOST_VALUES = 100;

/** The counts by value, in its order, and decision. A version of the banner is named by its number. */
async function countsOf(db: Queryable, siteId: string, by: Breakdown['by'], month: string) {
  const counts = new Map<string, Map<(typeof DECISIONS)[number], number>>();
  for (const { value, decision, consents } of await rowsOf(db, [siteId, by, month])) {
    const ofValue = counts.get(value) ?? new Map();
    counts.set(value, ofValue.set(decision, consents));
  }
  return counts;
}

async function rowsOf(db: Queryable, values: readonly string[]): Promise<z.infer<typeof Rows>> {
  try {
    const { rows } = await db.query(
      `select coalesce(v.number::text, c.value) as value, c.decision, c.consents
         from read_model.monthly_counts c
         left join site_configs v on c.property = 'version' and v.site_id = c.site_id and v.sha256 = c.value
        where c.site_id = $1 and c.property = $2 and c.month = $3::date
          and c.value in (select value from read_model.monthly_counts
                           where site_id = $1 and property = $2 and month = $3::date
                           group by value order by sum(consents) desc, value limit ${MOST_VALUES})
        order by v.number, c.value collate "C"`,
      [...values],
    );
    return Rows.parse(rows);
  } catch (error) {
    // Until the read model was built for the first time, there is no view.
    if (!lacksTable(error)) throw error;
    throw new ApiError('SERVICE_UNAVAILABLE', 'The statistics are being built. Try again in a minute.', {
      retryAfterSeconds: 60,
    });
  }
}
