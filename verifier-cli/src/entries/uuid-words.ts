/** Words of 32 bits in a UUID. */
export const UUID_WORDS = 4;

/** Words of 32 bits in a person tag or an erasure tag. */
export const TAG_WORDS = 8;

const DASH = 0x2d;

/** Writes the bits of a UUID in lower case into `words`. */
export function readUuid(id: string, words: Uint32Array): void {
  let word = 0;
  let digits = 0;
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i);
    if (code === DASH) continue;
    word = (word << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
    digits += 1;
    if (digits % 8 === 0) words[digits / 8 - 1] = word;
  }
}

/** The UUID of these bits. */
export function writeUuid(words: ArrayLike<number>): string {
  const hex = Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
