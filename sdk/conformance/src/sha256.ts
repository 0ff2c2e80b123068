const BLOCK = 64;
/** The first 32 bits of the fractional parts of a root of the first primes. */
const rootsOf = (count: number, root: (prime: number) => number): readonly number[] => {
  const primes: number[] = [];
  for (let one = 2; primes.length < count; one += 1) if (primes.every((prime) => one % prime !== 0)) primes.push(one);
  return primes.map((prime) => ((root(prime) % 1) * 2 ** 32) | 0);
};
const CONSTANTS = rootsOf(64, Math.cbrt);
const START = rootsOf(8, Math.sqrt);

/**
 * SHA-256 (FIPS 180-4, section 6.2) in the turn in which it is called: the order of what an SDK sends must not depend on
 * the threads of WebCrypto.
 */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = [...START];
  for (let at = 0; at < padded.length; at += BLOCK) {
    const words = Array.from({ length: 16 }, (_, i) => view.getInt32(at + 4 * i));
    const word = (i: number): number => words[i] ?? 0;
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [word(i - 15), word(i - 2)];
      const small = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
      words.push((word(i - 16) + small + word(i - 7) + (turned(b, 17) ^ turned(b, 19) ^ (b >>> 10))) | 0);
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i += 1) {
      const chosen = (e & f) ^ (~e & g);
      const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (CONSTANTS[i] ?? 0) + word(i);
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = ((state[i] ?? 0) + value) | 0;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, value] of state.entries()) digest.setInt32(4 * i, value);
  return new Uint8Array(digest.buffer);
}

/** HMAC-SHA256 (RFC 2104) @param key at most 64 bytes */
export function hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = (mask: number): Uint8Array => Uint8Array.from({ length: BLOCK }, (_, i) => (key[i] ?? 0) ^ mask);
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), bytes))));
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
