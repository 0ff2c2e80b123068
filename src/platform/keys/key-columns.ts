import { timingSafeEqual } from 'node:crypto';
import { BLIND_INDEX_BYTES, type BlindIndexKind } from './blind-index.js';
import { RepeatedHmac } from './hmac.js';
import { KEY_ROW_LABEL, KEY_ROW_SEAL_BYTES, NO_INDEX, WITH_INDEX } from './key-row.js';
import { RECORD_LABEL, SEED_BYTES } from './record-encryption.js';

/** Rows of `record_keys` of one site, by columns, bytes in lower-case hex. */
export interface KeyColumns {
  readonly eventIds: readonly string[];
  readonly seeds: readonly string[];
  readonly seals: readonly string[];
  readonly indexes: Readonly<Record<BlindIndexKind, readonly (string | null)[]>>;
}

const KEY_BYTES = 32;
const UUID_BYTES = 16;
/** The order in which the seal binds the indexes: see `sealOfKeyRow`. */
const KINDS: readonly BlindIndexKind[] = ['visitor', 'email', 'phone', 'id_number'];
const NO_INDEX_BYTES = new Uint8Array(BLIND_INDEX_BYTES);

/**
 * Derives the records' keys from their rows, as `openKeyRow` does (a test compares them). An export
 * opens a million rows, and objects for each of their values cost several times what the hashes do.
 * @param siteKey 32 bytes, of the rows' site
 * @returns for each row its key, 32 bytes, or null if it is not as admission wrote it
 */
export function openKeyColumns(siteKey: Uint8Array, columns: KeyColumns): readonly (Uint8Array | null)[] {
  const { eventIds, seeds, seals, indexes } = columns;
  const derivation = new RepeatedHmac(RECORD_LABEL.length + SEED_BYTES + UUID_BYTES);
  derivation.setKey(siteKey);
  derivation.message.set(RECORD_LABEL);
  const sealing = new RepeatedHmac(KEY_ROW_LABEL.length + KINDS.length * (1 + BLIND_INDEX_BYTES));
  sealing.message.set(KEY_ROW_LABEL);
  const expected = Buffer.alloc(KEY_BYTES);
  const given = Buffer.alloc(KEY_ROW_SEAL_BYTES);
  const keys = Buffer.alloc(eventIds.length * KEY_BYTES);
  return eventIds.map((eventId, row) => {
    const isWhole =
      writeHex(derivation.message, RECORD_LABEL.length, seeds[row], SEED_BYTES) &&
      writeHex(derivation.message, RECORD_LABEL.length + SEED_BYTES, eventId.replaceAll('-', ''), UUID_BYTES) &&
      writeHex(given, 0, seals[row], KEY_ROW_SEAL_BYTES) &&
      KINDS.every((kind, place) => writeIndex(sealing.message, place, indexes[kind][row]));
    if (!isWhole) return null;
    derivation.writeTo(keys, row * KEY_BYTES);
    const key = keys.subarray(row * KEY_BYTES, (row + 1) * KEY_BYTES);
    sealing.setKey(key);
    sealing.writeTo(expected, 0);
    return timingSafeEqual(expected.subarray(0, KEY_ROW_SEAL_BYTES), given) ? key : null;
  });
}

/** @returns whether `hex` is the hex of exactly so many bytes */
function writeHex(out: Buffer, at: number, hex: string | undefined, bytes: number): boolean {
  return hex?.length === 2 * bytes && out.write(hex, at, bytes, 'hex') === bytes;
}

function writeIndex(message: Buffer, place: number, hex: string | null | undefined): boolean {
  const at = KEY_ROW_LABEL.length + place * (1 + BLIND_INDEX_BYTES);
  message[at] = hex === null ? NO_INDEX : WITH_INDEX;
  if (hex !== null) return writeHex(message, at + 1, hex, BLIND_INDEX_BYTES);
  message.set(NO_INDEX_BYTES, at + 1);
  return true;
}
