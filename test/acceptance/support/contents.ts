import { crc32, deflateSync } from 'node:zlib';

/** A JSON object whose text has exactly this many bytes, in one member. */
export function objectOfBytes(bytes: number): Record<string, string> {
  return { a: 'x'.repeat(bytes - JSON.stringify({ a: '' }).length) };
}

/** An object with this many members. */
export function objectOfKeys(keys: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key_${i}`, i]));
}

/** A PNG of one pixel, in base64, of exactly this many bytes: a text chunk fills it up. */
export function pngOfBytes(bytes: number): string {
  const header = chunk('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]));
  const data = chunk('IDAT', deflateSync(Buffer.from([0, 0])));
  const end = chunk('IEND', Buffer.alloc(0));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const rest = bytes - signature.length - header.length - data.length - end.length - 12;
  const text = chunk('tEXt', Buffer.from(`Comment\0${'x'.repeat(rest - 8)}`));
  return Buffer.concat([signature, header, text, data, end]).toString('base64');
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** A PDF without a page, in base64, of exactly this many bytes: a comment fills it up. */
export function pdfOfBytes(bytes: number): string {
  const [head, tail] = ['%PDF-1.7\n%', '\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n'];
  return Buffer.from(`${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`).toString('base64');
}
