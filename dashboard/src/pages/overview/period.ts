/** Lengths of the period of the overview, in days. The API counts at most 92. */
export const PERIODS = [7, 30, 90] as const;
const DEFAULT_DAYS = 30;

/** The choice of the overview, as the address has it. */
export interface Shown {
  readonly days?: (typeof PERIODS)[number] | undefined;
  /** The only site that is counted; if omitted, all of them. */
  readonly site?: string | undefined;
}

/** Reads the choice in an address. Values that are not valid are ignored. */
export function shownOf(search: Readonly<Record<string, unknown>>): Shown {
  return {
    days: PERIODS.find((days) => days === search.days),
    site: typeof search.site === 'string' ? search.site : undefined,
  };
}

export function daysOf({ days }: Shown): number {
  return days ?? DEFAULT_DAYS;
}

const DAY_MS = 86_400_000;

/**
 * First and last day (UTC) of the period that ends today, or of the one before it.
 * @param now the current time in milliseconds since 1970
 */
export function periodOf(days: number, now: number, isBefore: boolean): { readonly from: string; readonly to: string } {
  const last = now - (isBefore ? days * DAY_MS : 0);
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { from: dayOf(last - (days - 1) * DAY_MS), to: dayOf(last) };
}
