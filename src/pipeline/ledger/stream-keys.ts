import * as z from 'zod';
import { POLICY_STREAM, siteOfStream } from '../../../schemas/events/streams.js';
import { POLICY_KEY, type StreamKeyOf, streamKey } from '../../../schemas/evidence/batch-header.js';
import type { Queryable } from '../../platform/database/pool.js';
import { hmacSha256 } from '../../platform/keys/index.js';

/** Number of bytes of the secret from which the salts of sites are derived. */
export const SALT_KEY_BYTES = 32;

/** Number of streams whose keys are remembered. */
const REMEMBERED = 100_000;

/**
 * The salt of a site: HMAC-SHA-256(salt key, "consent-ledger site salt v1" ‖ 0x00 ‖ site id). Packages of the site
 * state it, so it must not reveal the salts of other sites.
 * @param saltKey secret of the ledger, 32 bytes
 * @returns 32 bytes
 */
export function siteSalt(saltKey: Uint8Array, siteId: string): Uint8Array {
  return hmacSha256(saltKey, `consent-ledger site salt v1\0${siteId}`);
}

/**
 * Returns a function that computes the keys of streams in a ledger. It remembers them, because a Merkle batch needs the
 * key of each stream several times.
 */
export function streamKeysUnder(saltKey: Uint8Array): StreamKeyOf {
  const known = new Map<string, string>();
  return (stream) => {
    const found = known.get(stream);
    if (found !== undefined) return found;
    const site = siteOfStream(stream);
    const key = streamKey(stream, site === null ? new Uint8Array() : siteSalt(saltKey, site));
    if (known.size >= REMEMBERED) known.clear();
    known.set(stream, key);
    return key;
  };
}

/** The stream keys of a ledger that has not published its salt key: only `policy` has one. */
export const NO_STREAM_KEYS: StreamKeyOf = (stream) => {
  if (stream !== POLICY_STREAM) throw new RangeError(`the ledger has no key of ${stream} before its first event`);
  return POLICY_KEY;
};

const SaltRows = z.array(z.object({ salt_key: z.instanceof(Uint8Array) })).max(1);

/** Reads the secret of the ledger's salts, 32 bytes, or null before the ledger's first event. */
export async function readSaltKey(db: Queryable): Promise<Uint8Array | null> {
  const { rows } = await db.query('select salt_key from ledger_keys where replaces is null');
  return SaltRows.parse(rows)[0]?.salt_key ?? null;
}
