/** Counters of a proof have at most this many digits. */
const COUNTER_DIGITS = 12;

/** A challenge, `bits.expiry.authenticator`, with its bits captured. */
const CHALLENGE = /^(\d{1,2})\.[0-9a-z]{1,10}\.[\w-]{22}$/;

/** A challenge, and the proof that answers it: the challenge, a dot and a decimal counter. */
export const PROOF = new RegExp(`^(${CHALLENGE.source.slice(1, -1)})\\.\\d{1,${COUNTER_DIGITS}}$`);

/**
 * Returns the zero bits with which the SHA-256 of a proof has to begin.
 * @returns null for a text that is no challenge
 */
export function bitsOfChallenge(challenge: string): number | null {
  const bits = CHALLENGE.exec(challenge)?.[1];
  return bits === undefined ? null : Number(bits);
}

/** Counts the zero bits with which a digest begins. */
export function leadingZeroBits(digest: Uint8Array): number {
  let bits = 0;
  for (const byte of digest) {
    if (byte !== 0) return bits + Math.clz32(byte) - 24;
    bits += 8;
  }
  return bits;
}
