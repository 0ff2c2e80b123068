import { totpCode } from '../../src/accounts/second-factor/factor-secrets.js';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The code that an authenticator app shows.
 * @param secret base32, as the dashboard shows it
 * @param at milliseconds of the Unix epoch
 */
export function authenticatorCode(secret: string, at: number = Date.now()): string {
  const bits = [...secret.toLowerCase()]
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Uint8Array.from(bytes), Math.floor(at / 30_000));
}
