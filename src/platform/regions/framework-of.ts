import { type ComplianceFramework, FRAMEWORK_PLACES } from './frameworks.js';

const BY_PLACE: ReadonlyMap<string, ComplianceFramework> = new Map(
  FRAMEWORK_PLACES.flatMap(({ framework, places }) => places.map((place) => [place, framework] as const)),
);

const COUNTRIES_WITH_REGIONS: ReadonlySet<string> = new Set(
  [...BY_PLACE.keys()].filter((place) => place.includes('-')).map((place) => place.slice(0, 2)),
);

/**
 * Returns the framework of a place.
 * @param country ISO 3166-1 alpha-2; null: unknown
 * @param region subdivision code of ISO 3166-2, without the country; null: unknown
 * @returns null if the place is not known precisely enough
 */
export function frameworkOf(country: string | null, region: string | null): ComplianceFramework | null {
  if (country === null) return null;
  const ofRegion = region === null ? undefined : BY_PLACE.get(`${country}-${region}`);
  const found = ofRegion ?? BY_PLACE.get(country);
  if (found !== undefined) return found;
  return region === null && COUNTRIES_WITH_REGIONS.has(country) ? null : 'none';
}
