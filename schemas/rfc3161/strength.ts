import type { HashAlgorithm, PublicKey, SignatureScheme } from '../crypto/algorithms.js';

/** How far an algorithm or key can be relied on. */
export interface Strength {
  /** The evaluated algorithm or key, e.g. `RSA-2048`. */
  readonly name: string;
  /** First time at which the algorithm or key is no longer considered sound, or null if no such date was published. */
  readonly soundUntil: Date | null;
}

const BROKEN = new Date(0);
/** End of 112-bit strength: NIST SP 800-57 part 1 rev. 5 table 4, SP 800-131A. */
const END_OF_112_BITS = new Date('2031-01-01T00:00:00Z');
/**
 * End of RSA, ECDSA and EdDSA of every size, because of quantum computers: NIST IR 8547 (draft)
 * table 2.
 */
export const END_OF_CLASSICAL_SIGNATURES = new Date('2036-01-01T00:00:00Z');

/** Returns whether a hash was already broken before this service existed. */
export function isBroken(hash: HashAlgorithm): boolean {
  return hash === 'md5' || hash === 'sha1';
}

/**
 * The strength of a hash against collisions. MD5 and SHA-1 were broken before this service existed.
 */
export function hashStrength(hash: HashAlgorithm): Strength {
  const name = hash.toUpperCase().replace(/^SHA(?=\d)(?!3-)/, 'SHA-');
  if (isBroken(hash)) return { name, soundUntil: BROKEN };
  const is112Bits = hash === 'sha224' || hash === 'sha3-224';
  return { name, soundUntil: is112Bits ? END_OF_112_BITS : null };
}

/** The strength of a public key by its kind and size. */
export function keyStrength(key: PublicKey): Strength {
  switch (key.type) {
    case 'rsa':
      return { name: `RSA-${key.bits}`, soundUntil: rsaSoundUntil(key.bits) };
    case 'ec':
      return {
        name: key.curve,
        soundUntil: key.bits < 250 ? END_OF_112_BITS : END_OF_CLASSICAL_SIGNATURES,
      };
    default:
      return { name: key.type === 'ed25519' ? 'Ed25519' : 'Ed448', soundUntil: END_OF_CLASSICAL_SIGNATURES };
  }
}

function rsaSoundUntil(bits: number): Date {
  if (bits < 2048) return BROKEN;
  return bits < 3072 ? END_OF_112_BITS : END_OF_CLASSICAL_SIGNATURES;
}

/**
 * The strengths that a signature depends on. The mask hash of RSA-PSS needs no resistance to
 * collisions.
 */
export function signatureStrengths(scheme: SignatureScheme, key: PublicKey): Strength[] {
  return 'hash' in scheme ? [keyStrength(key), hashStrength(scheme.hash)] : [keyStrength(key)];
}

/** The strength that ends first, or undefined if there is none. */
export function weakest(strengths: readonly Strength[]): Strength | undefined {
  const end = (strength: Strength) => strength.soundUntil?.getTime() ?? Number.POSITIVE_INFINITY;
  return strengths.reduce<Strength | undefined>(
    (worst, strength) => (worst === undefined || end(strength) < end(worst) ? strength : worst),
    undefined,
  );
}

/** Returns the strengths that are no longer considered secure at `at`. */
export function unsoundAt(strengths: readonly Strength[], at: Date): Strength[] {
  return strengths.filter(({ soundUntil }) => soundUntil !== null && soundUntil.getTime() <= at.getTime());
}
