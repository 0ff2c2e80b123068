import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { ipBytes } from '../net/ip-bytes.js';
import { isSpecialAddress } from '../net/special-addresses.js';
import { InvalidMmdb } from './mmdb-data.js';
import { readMmdb } from './mmdb-file.js';

/** A place as it is known: ISO 3166-1 alpha-2, and the subdivision of ISO 3166-2 without the country. */
export interface Place {
  readonly country: string;
  readonly region: string | null;
}

/** Where IP addresses are. */
export interface GeoDatabase {
  /** @returns null for an address of which nothing is known: private, malformed, not in the data set */
  placeOf(address: string): Place | null;
}

/** The data set that the service brings along: countries by IPv4 and IPv6 address (CC0; includes data of the NRO, CC BY 4.0). */
const PACKAGED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

const Country = z.string().regex(/^[A-Z]{2}$/);
const Subdivision = z.string().regex(/^[A-Z0-9]{1,3}$/);

/** What the packaged data set says of an address, and what GeoLite2 and GeoIP2 (country, city) say of one. */
const Entry = z.union([
  z.object({ country_code: Country }).transform((entry): Place => ({ country: entry.country_code, region: null })),
  z
    .object({
      country: z.object({ iso_code: Country }),
      subdivisions: z.array(z.object({ iso_code: Subdivision.optional() })).optional(),
    })
    .transform(
      ({ country, subdivisions }): Place => ({
        country: country.iso_code,
        region: subdivisions?.[0]?.iso_code ?? null,
      }),
    ),
]);

/**
 * Reads a data set into memory.
 * @param path of a MaxMind DB file (GeoLite2-Country, GeoLite2-City or the like); undefined: the packaged one, 8 MB
 * @throws Error, with a message for the operator, if it cannot be read
 */
export async function openGeoDatabase(path: string | undefined): Promise<GeoDatabase> {
  const file = path ?? createRequire(import.meta.url).resolve(PACKAGED);
  try {
    const mmdb = readMmdb(await readFile(file));
    return {
      placeOf(address) {
        // Data sets made of what networks say of themselves do name countries for private addresses.
        const bytes = isSpecialAddress(address) ? null : ipBytes(address);
        const entry = bytes === null ? null : mmdb.find(bytes);
        return Entry.safeParse(entry).data ?? null;
      },
    };
  } catch (error) {
    const reason = error instanceof InvalidMmdb ? error.message : describe(error);
    throw new Error(`The IP data set ${file} cannot be read: ${reason}. Set GEO_DATABASE_FILE to a MaxMind DB file.`, {
      cause: error,
    });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
