/**
 * A small DER (and, where a test needs it, BER) encoder, so that tests can build what no library
 * would.
 */

function header(tag: number, length: number): number[] {
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return length < 0x80 ? [tag, length] : [tag, 0x80 | octets.length, ...octets];
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function tlv(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const joined = join(...content);
  return join(new Uint8Array(header(tag, joined.length)), joined);
}

export const sequence = (...items: readonly Uint8Array[]) => tlv(0x30, ...items);
export const set = (...items: readonly Uint8Array[]) => tlv(0x31, ...items);
export const sortedSet = (...items: readonly Uint8Array[]) => set(...[...items].sort(Buffer.compare));
export const octets = (bytes: Uint8Array) => tlv(0x04, bytes);
export const bits = (bytes: Uint8Array, unused = 0) => tlv(0x03, new Uint8Array([unused]), bytes);
export const bool = (value: boolean) => tlv(0x01, new Uint8Array([value ? 0xff : 0]));
export const nul = () => tlv(0x05);
export const ia5 = (value: string) => tlv(0x16, new TextEncoder().encode(value));
export const utf8 = (value: string) => tlv(0x0c, new TextEncoder().encode(value));
export const generalizedTime = (value: string) => tlv(0x18, new TextEncoder().encode(value));
/** `[number]`, constructed. */
export const context = (number: number, ...content: readonly Uint8Array[]) => tlv(0xa0 | number, ...content);
/** `[number]`, primitive. */
export const implicit = (number: number, content: Uint8Array) => tlv(0x80 | number, content);

export function integer(value: number | bigint): Uint8Array {
  const octets: number[] = [];
  let rest = BigInt(value);
  do {
    octets.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while (rest > 0n);
  if ((octets[0] ?? 0) >= 0x80) octets.unshift(0);
  return tlv(0x02, new Uint8Array(octets));
}

export function oid(dotted: string): Uint8Array {
  const [first = 0n, second = 0n, ...rest] = dotted.split('.').map(BigInt);
  const content = [first * 40n + second, ...rest].flatMap((arc) => {
    const octets = [Number(arc & 0x7fn)];
    for (let more = arc >> 7n; more > 0n; more >>= 7n) octets.unshift(Number(more & 0x7fn) | 0x80);
    return octets;
  });
  return tlv(0x06, new Uint8Array(content));
}

/** GeneralizedTime or UTCTime as RFC 5280 wants it. */
export function time(date: Date): Uint8Array {
  const text = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < 2050 ? tlv(0x17, new TextEncoder().encode(text.slice(2))) : generalizedTime(text);
}

/** `YYYYMMDDHHMMSSZ`. */
export function timeText(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}

/** The same value with an indefinite length (BER); only for constructed tags. */
export function indefinite(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  return join(new Uint8Array([tag, 0x80]), ...content, new Uint8Array([0, 0]));
}
