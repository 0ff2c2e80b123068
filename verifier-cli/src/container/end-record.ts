import { type Finding, finding } from '../findings/finding.js';
import type { ByteSource } from './byte-source.js';

/**
 * Position of the central directory, from the records at the end of a ZIP (APPNOTE
 * 4.3.14–4.3.16).
 */
export interface EndRecord {
  readonly entries: number;
  readonly directoryOffset: number;
  readonly directorySize: number;
  /** Offset of the first of these end records: the central directory must end here. */
  readonly start: number;
  /** Their problems. Empty if there are none. */
  readonly problems: readonly Finding[];
}

const END = 0x06054b50;
const END_BYTES = 22;
const ZIP64_END = 0x06064b50;
const ZIP64_END_BYTES = 56;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const MAX_COMMENT = 0xffff;

/** Reads the end records of a ZIP. @returns null if the bytes are not a ZIP */
export async function readEndRecord(source: ByteSource): Promise<EndRecord | null> {
  if (source.size < END_BYTES) return null;
  const tailStart = Math.max(0, source.size - END_BYTES - MAX_COMMENT);
  const tail = viewOf(await source.read(tailStart, source.size - tailStart));
  let at = tail.byteLength - END_BYTES;
  while (at >= 0 && tail.getUint32(at, true) !== END) at -= 1;
  if (at < 0) return null;

  const problems: Finding[] = [];
  const position = tailStart + at;
  if (position + END_BYTES !== source.size) problems.push(finding('bytes-after-zip'));
  if (tail.getUint16(at + 20, true) !== 0) problems.push(finding('zip-has-comment'));
  if (tail.getUint16(at + 4, true) !== 0 || tail.getUint16(at + 6, true) !== 0)
    problems.push(finding('zip-spans-disks'));
  const record = {
    entries: tail.getUint16(at + 10, true),
    directorySize: tail.getUint32(at + 12, true),
    directoryOffset: tail.getUint32(at + 16, true),
    start: position,
  };
  if (tail.getUint16(at + 8, true) !== record.entries) problems.push(finding('zip-counts-differ'));

  const large = await readZip64(source, position);
  if (large === null) {
    if (record.entries === 0xffff || record.directorySize === 0xffffffff || record.directoryOffset === 0xffffffff)
      return null;
    return { ...record, problems };
  }
  const agrees =
    (record.entries === 0xffff || record.entries === large.entries) &&
    (record.directorySize === 0xffffffff || record.directorySize === large.directorySize) &&
    (record.directoryOffset === 0xffffffff || record.directoryOffset === large.directoryOffset);
  if (!agrees) problems.push(finding('zip64-end-contradicts'));
  return { ...large, problems: [...problems, ...large.problems] };
}

async function readZip64(source: ByteSource, end: number): Promise<EndRecord | null> {
  const locatorAt = end - ZIP64_LOCATOR_BYTES;
  if (locatorAt < ZIP64_END_BYTES) return null;
  const locator = viewOf(await source.read(locatorAt, ZIP64_LOCATOR_BYTES));
  if (locator.getUint32(0, true) !== ZIP64_LOCATOR) return null;
  const start = safeUint64(locator, 8);
  if (start === null || start + ZIP64_END_BYTES > locatorAt) return null;
  const record = viewOf(await source.read(start, ZIP64_END_BYTES));
  const entries = safeUint64(record, 32);
  const directorySize = safeUint64(record, 40);
  const directoryOffset = safeUint64(record, 48);
  if (
    record.getUint32(0, true) !== ZIP64_END ||
    entries === null ||
    directorySize === null ||
    directoryOffset === null
  ) {
    return null;
  }
  const problems: Finding[] = [];
  if (start + ZIP64_END_BYTES !== locatorAt || safeUint64(record, 4) !== ZIP64_END_BYTES - 12) {
    problems.push(finding('zip64-end-size'));
  }
  if (safeUint64(record, 24) !== entries) problems.push(finding('zip-counts-differ'));
  if (record.getUint32(16, true) !== 0 || record.getUint32(20, true) !== 0 || locator.getUint32(4, true) !== 0) {
    problems.push(finding('zip-spans-disks'));
  }
  if (locator.getUint32(16, true) !== 1) problems.push(finding('zip-spans-disks'));
  return { entries, directorySize, directoryOffset, start, problems };
}

/** A view for reading little-endian numbers. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** An unsigned 64-bit number, or null above 2^53 − 1. */
export function safeUint64(view: DataView, offset: number): number | null {
  const value = view.getBigUint64(offset, true);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
}
