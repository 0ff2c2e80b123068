import type { IncomingHttpHeaders } from 'node:http';
import type { DetectedPlace } from '../../../schemas/api/config.js';
import { frameworkOf } from '../../../schemas/law/framework-places.js';
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
export type DetectRegion = (request: RequestSource) => DetectedPlace;

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
