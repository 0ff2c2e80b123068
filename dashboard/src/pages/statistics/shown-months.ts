import type { Breakdown } from '../../api/types.js';

/** In the order of the page. */
export const BREAKDOWNS = [
  'language',
  'framework',
  'category',
  'type',
  'channel',
  'version',
] as const satisfies readonly Breakdown['by'][];

/** The choice of the page, as the address has it. */
export interface Shown {
  readonly by?: (typeof BREAKDOWNS)[number] | undefined;
  /** A month, for example `2026-03`; if omitted, the last one that is over. */
  readonly month?: string | undefined;
  /** A second month, to compare with. */
  readonly beside?: string | undefined;
}

/** Reads the choice in an address. Values that are not valid are ignored. */
export function shownOf(search: Readonly<Record<string, unknown>>): Shown {
  const month = (value: unknown) => (typeof value === 'string' && /^\d{4}-\d\d$/.test(value) ? value : undefined);
  return {
    by: BREAKDOWNS.find((one) => one === search.by),
    month: month(search.month),
    beside: month(search.beside),
  };
}

const MONTHS = 24;

/** The months (UTC) that are over, the last one first. @param now the current time in milliseconds since 1970 */
export function finishedMonths(now: number): readonly string[] {
  const today = new Date(now);
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1 - ago, 1)).toISOString().slice(0, 7),
  );
}
