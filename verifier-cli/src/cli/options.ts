import { fromHex } from '../../../schemas/crypto/encoding.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { LANGUAGES, languageOf } from '../i18n/language.js';
import type { Texts } from '../i18n/texts.js';
import { textsIn } from '../i18n/texts-in.js';
import type { WitnessTrust } from '../trust/quorum.js';
import { distinctKeys } from '../trust/trust-material.js';
import { UsageError } from './usage-error.js';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `90s`, `30m`, `24h` or `7d`, in milliseconds. @throws UsageError */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const factor = UNITS[unit ?? ''];
  if (digits === undefined || factor === undefined) {
    throw new UsageError(`“${text}” is not a duration: write a whole number and s, m, h or d, as in 24h`);
  }
  return Number(digits) * factor;
}

/** A time in RFC 3339, such as `2026-01-31` or `2026-01-31T12:00:00Z`. @throws UsageError */
export function parseTime(text: string): Date {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = new Date(text);
  // JavaScript's Date turns 30 February into 2 March.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  if (!isTime || !isDay || Number.isNaN(time.getTime()))
    throw new UsageError(`“${text}” is not a time: write an existing date and time, as in 2026-01-31T12:00:00Z`);
  return time;
}

/** An object identifier in dotted form, for a policy. @throws UsageError */
export function parsePolicy(text: string): string {
  if (!/^[0-2](?:\.(?:0|[1-9]\d{0,38})){1,40}$/.test(text))
    throw new UsageError(`“${text}” is not a policy: write its object identifier, as in 1.3.6.1.4.1.4146.2.2`);
  return text;
}

/**
 * The nonce of a request, in hexadecimal with or without 0x.
 * @returns an unsigned big-endian number
 * @throws UsageError
 */
export function parseNonce(text: string): Uint8Array {
  const digits = text.toLowerCase().replace(/^0x/, '');
  const bytes = digits === '' ? null : fromHex(digits.padStart(digits.length + (digits.length % 2), '0'));
  if (bytes === null || bytes.length > 64)
    throw new UsageError(`“${text}” is not a nonce: write it in hexadecimal, as in 0x1f3a, with at most 128 digits`);
  return bytes;
}

/**
 * The witnesses to trust, each public key once.
 * @param required value of `--witnesses`
 * @throws UsageError
 */
export function parseWitnesses(given: readonly VerifierKey[], required: string | undefined): WitnessTrust {
  const keys = distinctKeys(given);
  if (required === undefined) return { keys, required: null };
  if (!/^(?:0|[1-9]\d{0,2})$/.test(required))
    throw new UsageError(`“${required}” is not a number of witnesses: write a whole number from 0 to 999`);
  if (Number(required) > new Set(keys.map(({ name }) => name)).size)
    throw new UsageError(`--witnesses ${required} needs the keys of as many witnesses: give each with --witness-key`);
  return { keys, required: Number(required) };
}

/** A number of time stamp authorities, from 1 to 9. @throws UsageError */
export function parseStamps(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new UsageError(`“${text}” is not a number of authorities: write 1 to 9`);
  return Number(text);
}

/** The texts in the language of the reader. @throws UsageError */
export function parseLanguage(text: string): Texts {
  const language = languageOf(text);
  if (language === null)
    throw new UsageError(`“${text}” is not a language of reports: write ${LANGUAGES.join(' or ')}`);
  return textsIn(language);
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
