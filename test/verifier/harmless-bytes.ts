import { inflateRawSync } from 'node:zlib';

/**
 * Whether a byte of a package lies in a field of the ZIP that says nothing about the content:
 * versions of the writing program, internal attributes, permissions. Everything else of a file's
 * headers is compared, or needed to read it.
 */
export function isHarmless(zip: Uint8Array, at: number): boolean {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const isHeader = (signature: number, start: number) =>
    start >= 0 && start + 4 <= zip.length && view.getUint32(start, true) === signature;
  const inCentral = [4, 5, 6, 7, 36, 37, 38, 39, 40, 41].some((field) => isHeader(0x02014b50, at - field));
  const inLocal = [4, 5].some((field) => isHeader(0x04034b50, at - field));
  return inCentral || inLocal;
}

/**
 * Whether a change of one byte of packed data changes nothing of what they unpack to: deflate ends
 * at a bit, and no program reads the rest of that byte; and where the same bytes stand twice, it may
 * name either.
 */
export function unpacksAlike(zip: Uint8Array, changed: Uint8Array, at: number): boolean {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  for (let header = 0; view.getUint32(header, true) === 0x04034b50; ) {
    const start = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
    const end = start + view.getUint32(header + 18, true);
    if (at >= start && at < end && view.getUint16(header + 8, true) === 8) {
      const [before, after] = [zip, changed].map((bytes) => inflateRawSync(bytes.subarray(start, end)));
      return before !== undefined && after !== undefined && before.equals(after);
    }
    header = end;
  }
  return false;
}
