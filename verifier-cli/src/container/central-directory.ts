import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { type Finding, finding } from '../findings/finding.js';
import { safeUint64, viewOf } from './end-record.js';

/** A file of a ZIP, as the central directory states it (APPNOTE 4.3.12). */
export interface DirectoryEntry {
  readonly name: string;
  readonly nameBytes: Uint8Array;
  readonly flags: number;
  readonly method: number;
  /** DOS time and date, four bytes. */
  readonly modified: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  readonly headerOffset: number;
  /** Its problems. Empty if there are none. */
  readonly problems: readonly Finding[];
}

const SIGNATURE = 0x02014b50;
const FIXED_BYTES = 46;
const EXTRA_ZIP64 = 0x0001;
const EXTRA_TIMESTAMP = 0x5455;

export const FLAG_DESCRIPTOR = 0x0008;
export const FLAG_UTF8 = 0x0800;
export const METHOD_STORED = 0;
export const METHOD_DEFLATED = 8;

/**
 * Reads the entries of a central directory.
 * @returns null if it cannot be read as one
 */
export function readCentralDirectory(
  bytes: Uint8Array,
  count: number,
): { entries: DirectoryEntry[]; used: number } | null {
  const view = viewOf(bytes);
  const entries: DirectoryEntry[] = [];
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    if (at + FIXED_BYTES > bytes.length || view.getUint32(at, true) !== SIGNATURE) return null;
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const commentLength = view.getUint16(at + 32, true);
    const end = at + FIXED_BYTES + nameLength + extraLength + commentLength;
    if (end > bytes.length) return null;
    const nameBytes = bytes.slice(at + FIXED_BYTES, at + FIXED_BYTES + nameLength);
    const extra = bytes.subarray(at + FIXED_BYTES + nameLength, at + FIXED_BYTES + nameLength + extraLength);
    entries.push(readEntry(view, at, nameBytes, extra, commentLength));
    at = end;
  }
  return { entries, used: at };
}

function readEntry(
  view: DataView,
  at: number,
  nameBytes: Uint8Array,
  extra: Uint8Array,
  comment: number,
): DirectoryEntry {
  const problems: Finding[] = [];
  const name = decodeUtf8(nameBytes);
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  if (name === null) problems.push(finding('name-not-utf8'));
  if ((flags & ~(FLAG_DESCRIPTOR | FLAG_UTF8)) !== 0) problems.push(finding('file-flags-unsupported'));
  if (method !== METHOD_STORED && method !== METHOD_DEFLATED) problems.push(finding('compression-unsupported'));
  if (comment !== 0) problems.push(finding('file-has-comment'));
  if (view.getUint16(at + 34, true) !== 0) problems.push(finding('file-on-other-disk'));
  const fileType = view.getUint16(at + 40, true) & 0xf000;
  if (fileType !== 0 && fileType !== 0x8000) problems.push(finding('file-is-link'));
  if ((view.getUint32(at + 38, true) & 0x18) !== 0) problems.push(finding('file-is-folder'));

  const fields = readExtra(extra);
  if (fields === null) problems.push(finding('extra-fields-unreadable'));
  for (const id of fields?.keys() ?? []) {
    if (id !== EXTRA_ZIP64 && id !== EXTRA_TIMESTAMP) problems.push(finding('extra-field-unknown', { id }));
  }
  let size: number | null = view.getUint32(at + 24, true);
  let packedSize: number | null = view.getUint32(at + 20, true);
  let headerOffset: number | null = view.getUint32(at + 42, true);
  const zip64 = fields?.get(EXTRA_ZIP64);
  const wanted = [size, packedSize, headerOffset].filter((value) => value === 0xffffffff).length;
  if (zip64 !== undefined) {
    const large = viewOf(zip64);
    let next = 0;
    // Exactly one value for each field that the header leaves out, and no other bytes (APPNOTE 4.5.3).
    if (zip64.length !== wanted * 8) problems.push(finding('zip64-contradicts-header'));
    const take = (value: number): number | null => {
      if (value !== 0xffffffff) return value;
      if (next + 8 > zip64.length) return null;
      next += 8;
      return safeUint64(large, next - 8);
    };
    size = take(size);
    packedSize = take(packedSize);
    headerOffset = take(headerOffset);
  } else if (wanted > 0) {
    problems.push(finding('zip64-missing'));
  }
  if (size === null || packedSize === null || headerOffset === null) problems.push(finding('zip64-unreadable'));
  return {
    name: name ?? '',
    nameBytes,
    flags,
    method,
    modified: view.getUint32(at + 12, true),
    crc: view.getUint32(at + 16, true),
    packedSize: packedSize ?? 0,
    size: size ?? 0,
    headerOffset: headerOffset ?? 0,
    problems,
  };
}

/** The extra fields by id, or null if they are malformed or one occurs twice. */
function readExtra(bytes: Uint8Array): Map<number, Uint8Array> | null {
  const view = viewOf(bytes);
  const fields = new Map<number, Uint8Array>();
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return null;
    const id = view.getUint16(at, true);
    const length = view.getUint16(at + 2, true);
    if (at + 4 + length > bytes.length || fields.has(id)) return null;
    fields.set(id, bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}
