import { equalBytes } from '../../../schemas/crypto/encoding.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ByteSource } from './byte-source.js';
import { type DirectoryEntry, FLAG_DESCRIPTOR } from './central-directory.js';
import { safeUint64, viewOf } from './end-record.js';

const LOCAL = 0x04034b50;
const FIXED_BYTES = 30;
const DESCRIPTOR = 0x08074b50;

/** Start of a file's packed bytes, and end of all bytes that belong to the file. */
export interface Extent {
  readonly dataStart: number;
  readonly end: number;
  readonly problems: readonly Finding[];
}

/**
 * Compares a file's local header and data descriptor with the central directory (APPNOTE 4.3.7, 4.3.9). Programs that
 * extract a ZIP as a stream use the local header, and others use the directory. If they differed, two people could see
 * two different packages.
 * @param limit offset at which the file must end: the start of the central directory
 * @returns null if there is no local header, or if the file exceeds the limit
 */
export async function readExtent(source: ByteSource, entry: DirectoryEntry, limit: number): Promise<Extent | null> {
  if (entry.headerOffset + FIXED_BYTES > limit) return null;
  const fixed = viewOf(await source.read(entry.headerOffset, FIXED_BYTES));
  if (fixed.getUint32(0, true) !== LOCAL) return null;
  const nameLength = fixed.getUint16(26, true);
  const extraLength = fixed.getUint16(28, true);
  const dataStart = entry.headerOffset + FIXED_BYTES + nameLength + extraLength;
  const dataEnd = dataStart + entry.packedSize;
  if (dataEnd > limit) return null;

  const problems: Finding[] = [];
  const name = await source.read(entry.headerOffset + FIXED_BYTES, nameLength);
  if (!equalBytes(name, entry.nameBytes)) problems.push(finding('local-name-differs'));
  if (extraLength !== 0) problems.push(finding('local-extra-fields'));
  if (fixed.getUint16(6, true) !== entry.flags) problems.push(finding('local-flags-differ'));
  if (fixed.getUint16(8, true) !== entry.method) problems.push(finding('local-method-differs'));
  if (fixed.getUint32(10, true) !== entry.modified) problems.push(finding('local-time-differs'));
  const local = [fixed.getUint32(14, true), fixed.getUint32(18, true), fixed.getUint32(22, true)];
  const central = [entry.crc, entry.packedSize, entry.size];
  if ((entry.flags & FLAG_DESCRIPTOR) === 0) {
    if (local.some((value, i) => value !== central[i])) problems.push(finding('local-sizes-differ'));
    return { dataStart, end: dataEnd, problems };
  }
  if (local.some((value) => value !== 0)) problems.push(finding('local-sizes-twice'));
  const end = await descriptorEnd(source, entry, dataEnd, limit);
  if (end === null) problems.push(finding('descriptor-contradicts'));
  return { dataStart, end: end ?? dataEnd, problems };
}

async function descriptorEnd(
  source: ByteSource,
  entry: DirectoryEntry,
  at: number,
  limit: number,
): Promise<number | null> {
  for (const length of [16, 24]) {
    if (at + length > limit) continue;
    const view = viewOf(await source.read(at, length));
    if (view.getUint32(0, true) !== DESCRIPTOR || view.getUint32(4, true) !== entry.crc) continue;
    const packed = length === 16 ? view.getUint32(8, true) : safeUint64(view, 8);
    const size = length === 16 ? view.getUint32(12, true) : safeUint64(view, 16);
    if (packed === entry.packedSize && size === entry.size) return at + length;
  }
  return null;
}
