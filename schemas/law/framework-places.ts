import type { COMPLIANCE_FRAMEWORKS } from '../events/consent-recorded.js';

export type ComplianceFramework = (typeof COMPLIANCE_FRAMEWORKS)[number];

/**
 * Places of each framework: countries by ISO 3166-1 alpha-2, subdivisions by ISO 3166-2. A place
 * that is not listed is under `none`. This is a hint for the banner, not legal advice: laws also
 * apply across borders.
 */
export const FRAMEWORK_PLACES: readonly {
  readonly framework: ComplianceFramework;
  readonly places: readonly string[];
}[] = [
  { framework: 'kvkk', places: ['TR'] },
  {
    framework: 'gdpr',
    places: [
      // The European Union.
      ...['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU'],
      ...['IE', 'IT', 'LT', 'LU', 'LV', 'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK'],
      // Parts of member states that have country codes of their own (Article 355 TFEU).
      ...['AX', 'GF', 'GP', 'MF', 'MQ', 'RE', 'YT'],
      // The other countries of the European Economic Area.
      ...['IS', 'LI', 'NO'],
    ],
  },
  { framework: 'uk_gdpr', places: ['GB'] },
  { framework: 'ccpa', places: ['US-CA'] },
  { framework: 'lgpd', places: ['BR'] },
  { framework: 'popia', places: ['ZA'] },
  { framework: 'pipeda', places: ['CA'] },
  { framework: 'pipl', places: ['CN'] },
  { framework: 'pipa', places: ['KR'] },
  { framework: 'dpdp', places: ['IN'] },
  { framework: 'fadp', places: ['CH'] },
];

const BY_PLACE: ReadonlyMap<string, ComplianceFramework> = new Map(
  FRAMEWORK_PLACES.flatMap(({ framework, places }) => places.map((place) => [place, framework] as const)),
);

const COUNTRIES_WITH_REGIONS: ReadonlySet<string> = new Set(
  [...BY_PLACE.keys()].filter((place) => place.includes('-')).map((place) => place.slice(0, 2)),
);

/**
 * Returns the framework of a place.
 * @param country ISO 3166-1 alpha-2 code, or null if it is unknown
 * @param region subdivision code of ISO 3166-2, without the country, or null if it is unknown
 * @returns null if the place is not known precisely enough
 */
export function frameworkOf(country: string | null, region: string | null): ComplianceFramework | null {
  if (country === null) return null;
  const ofRegion = region === null ? undefined : BY_PLACE.get(`${country}-${region}`);
  const found = ofRegion ?? BY_PLACE.get(country);
  if (found !== undefined) return found;
  return region === null && COUNTRIES_WITH_REGIONS.has(country) ? null : 'none';
}
