import { concatBytes } from './encoding.js';

/** One DER value: tag octet, length and content (X.690 §10.1). */
export function derValue(tag: number, content: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  const header = content.length < 0x80 ? [tag, content.length] : [tag, 0x80 | length.length, ...length];
  return concatBytes(new Uint8Array(header), content);
}
