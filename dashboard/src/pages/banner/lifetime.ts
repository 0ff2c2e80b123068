/** Units in which a lifetime is entered, in seconds, the longest first. */
export const LIFETIME_UNITS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
export type LifetimeUnit = keyof typeof LIFETIME_UNITS;

const UNITS = ['days', 'hours', 'minutes', 'seconds'] as const satisfies readonly LifetimeUnit[];

/** The unit of this name; days for another text. */
export function unitNamed(name: string): LifetimeUnit {
  return UNITS.find((unit) => unit === name) ?? 'days';
}

/** A lifetime as a whole number of the longest unit that it has. @param seconds 1 or more */
export function lifetimeOf(seconds: number): { readonly count: number; readonly unit: LifetimeUnit } {
  const unit = UNITS.find((one) => seconds % LIFETIME_UNITS[one] === 0) ?? 'seconds';
  return { count: seconds / LIFETIME_UNITS[unit], unit };
}
