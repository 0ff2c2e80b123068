import type { IncomingHttpHeaders } from 'node:http';
import type { DetectedRegion } from '../../../schemas/api/config.js';
import type { GeoDatabase, Place } from './geo-database.js';

/** The parts of a request that indicate its place. */
export interface RequestSource {
  /** Null if it is not known. */
  readonly clientAddress: string | null;
  /** Whether a trusted proxy sent the request. Only then its headers count. */
  readonly isFromProxy: boolean;
  readonly headers: IncomingHttpHeaders;
}

/** Returns the country, the region and the framework of a request. */
export type DetectRegion = (request: RequestSource) => DetectedRegion;

export interface RegionOptions {
  /** Names of the headers in which a proxy reports the place of a request, or undefined if none does. */
  readonly countryHeader: string | undefined;
  readonly regionHeader: string | undefined;
  readonly database: GeoDatabase;
}

/** Codes that proxies send instead of a country, for an unknown place and for the Tor network. */
const NO_COUNTRIES: ReadonlySet<string> = new Set(['XX', 'T1', 'ZZ']);

/**
 * Creates the detection. The headers of a trusted proxy take precedence over the client's address.
 */
export function createDetectRegion(options: RegionOptions): DetectRegion {
  return (request) => {
    const told = request.isFromProxy ? placeInHeaders(request, options) : null;
    const place = told ?? options.database.placeOf(request.clientAddress ?? '');
    const country = place?.country ?? null;
    const region = place?.region ?? null;
    return { country, region, compliance_framework: frameworkOf(country, region) };
  };
}

function placeInHeaders(request: RequestSource, { countryHeader, regionHeader }: RegionOptions): Place | null {
  const country = headerOf(request, countryHeader);
  if (!/^[A-Z]{2}$/.test(country) || NO_COUNTRIES.has(country)) return null;
  const region = headerOf(request, regionHeader);
  // Some proxies send the whole code (US-CA), others only the part after the country.
  const subdivision = region.startsWith(`${country}-`) ? region.slice(3) : region;
  return { country, region: /^[A-Z0-9]{1,3}$/.test(subdivision) ? subdivision : null };
}

function headerOf(request: RequestSource, name: string | undefined): string {
  const value = name === undefined ? undefined : request.headers[name.toLowerCase()];
  return typeof value === 'string' ? value.trim().toUpperCase() : '';
}

type ComplianceFramework = Exclude<DetectedRegion['compliance_framework'], null>;

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
