/** Days for which a refusal is kept at least, unless the site says otherwise: six months (CNIL, 2020). */
const REFUSAL_DAYS = 180;

/**
 * The days for which a person who refused is not asked again.
 * @returns null: never asked again
 */
export function refusalDays({
  refusal_days: stated,
  validity_days: validity,
}: {
  readonly refusal_days?: number | null | undefined;
  readonly validity_days: number | null;
}): number | null {
  if (stated !== undefined) return stated;
  return validity === null ? null : Math.max(REFUSAL_DAYS, validity);
}
