import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Reader } from 'mmdb-lib';
import * as z from 'zod';
import { ipBytes, isSpecialAddress } from '../net/addresses.js';

/**
 * A place: country code of ISO 3166-1 alpha-2, and the subdivision of ISO 3166-2 without the
 * country.
 */
export interface Place {
  readonly country: string;
  readonly region: string | null;
}

/** Places of IP addresses. */
export interface GeoDatabase {
  /**
   * @returns null for an address without a known place: private, malformed, or not in the data set
   */
  placeOf(address: string): Place | null;
}

/**
 * The data set in the service's packages: countries by IPv4 and IPv6 address (CC0; includes data of
 * the NRO, CC BY 4.0).
 */
const PACKAGED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

const Country = z.string().regex(/^[A-Z]{2}$/);
const Subdivision = z.string().regex(/^[A-Z0-9]{1,3}$/);

/** An entry of the packaged data set, or of GeoLite2 and GeoIP2 (country, city). */
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
 * @param path path of a MaxMind DB file (GeoLite2-Country, GeoLite2-City or a compatible one); if undefined, the
 * packaged file of 8 MB is used
 * @throws Error with a message for the operator, if the file cannot be read
 */
export async function openGeoDatabase(path: string | undefined): Promise<GeoDatabase> {
  const file = path ?? createRequire(import.meta.url).resolve(PACKAGED);
  try {
    const content = await readFile(file);
    const mmdb = new Reader(content);
    const { ipVersion, searchTreeSize } = Metadata.parse(mmdb.metadata);
    // The library would read past the end of a truncated tree.
    if (searchTreeSize + TREE_SEPARATOR > content.lastIndexOf(METADATA_MARKER))
      throw new Error('its search tree is cut off');
    return {
      placeOf(address) {
        // Data sets based on the declarations of network operators contain countries for private
        // addresses.
        const bytes = isSpecialAddress(address) ? null : ipBytes(address);
        // A tree of IPv4 addresses contains no IPv6 addresses, and the library does not detect
        // that.
        if (bytes === null || (ipVersion === 4 && bytes.length === 16)) return null;
        return Entry.safeParse(mmdb.get(plainText(bytes))).data ?? null;
      },
    };
  } catch (error) {
    throw new Error(
      `The IP data set ${file} cannot be read: ${describe(error)}. Set GEO_DATABASE_FILE to a MaxMind DB file.`,
      { cause: error },
    );
  }
}

const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** Number of zero bytes between tree and data (MaxMind DB file format 2.0). */
const TREE_SEPARATOR = 16;

/** Metadata that the library does not validate. A file of another format lacks it. */
const Metadata = z.object({
  binaryFormatMajorVersion: z.literal(2),
  ipVersion: z.literal([4, 6]),
  searchTreeSize: z.int().min(1),
});

/** Formats an address without abbreviations, so that the library's own parsing cannot change it. */
function plainText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  return groups.map((group) => group.toString(16)).join(':');
}

function describe(error: unknown): string {
  if (error instanceof z.ZodError) return 'it is not a MaxMind DB file of format 2';
  return error instanceof Error ? error.message : String(error);
}
