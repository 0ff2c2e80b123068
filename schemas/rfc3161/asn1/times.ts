import { MalformedInput } from '../errors.js';
import { hasTag, TAG } from './fields.js';
import type { Asn1Node } from './reader.js';

/**
 * A moment with what a `Date` cannot hold: the text as encoded, and the microseconds within the
 * second.
 */
export interface PreciseTime {
  /** Cut to milliseconds. */
  readonly date: Date;
  /** Microseconds since 1970-01-01T00:00:00Z; digits beyond the sixth are cut. */
  readonly microseconds: bigint;
  /** The GeneralizedTime or UTCTime as encoded, e.g. `20260102030405.678901Z`. */
  readonly text: string;
}

const GENERALIZED = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,12}))?Z$/;
const UTC = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/**
 * A GeneralizedTime in UTC with seconds, fraction allowed (RFC 3161 §2.4.2).
 * @throws MalformedInput
 */
export function preciseGeneralizedTime(node: Asn1Node, what: string): PreciseTime {
  if (!hasTag(node, TAG.generalizedTime)) throw new MalformedInput('bad-tag', `${what} is not a GeneralizedTime`);
  return generalizedTimeContent(node.content, what);
}

/**
 * The same for a GeneralizedTime under an IMPLICIT tag that the caller has checked.
 * @throws MalformedInput
 */
export function generalizedTimeContent(content: Uint8Array, what: string): PreciseTime {
  const text = ascii(content);
  const match = GENERALIZED.exec(text);
  if (match === null) throw new MalformedInput('bad-value', `${what} is not a time in UTC with seconds`);
  const [, year = '', ...rest] = match;
  return moment(Number(year), rest, text, what);
}

/**
 * UTCTime or GeneralizedTime of certificates, CRLs and OCSP answers (RFC 5280 §4.1.2.5).
 * @throws MalformedInput
 */
export function timeValue(node: Asn1Node, what: string): Date {
  if (!hasTag(node, TAG.utcTime)) return preciseGeneralizedTime(node, what).date;
  const text = ascii(node.content);
  const match = UTC.exec(text);
  if (match === null) throw new MalformedInput('bad-value', `${what} is not a UTCTime with seconds`);
  const [, shortYear = '', ...rest] = match;
  const year = Number(shortYear);
  return moment(year < 50 ? 2000 + year : 1900 + year, rest, text, what).date;
}

function moment(year: number, parts: readonly (string | undefined)[], text: string, what: string): PreciseTime {
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(0, 5).map(Number);
  const fraction = (parts[5] ?? '').slice(0, 6).padEnd(6, '0');
  const milliseconds = Number(fraction.slice(0, 3));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, milliseconds);
  // Date rolls impossible values over (31 February, 25 o'clock); a time that does not read back is
  // refused.
  const readsBack =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  if (!readsBack) throw new MalformedInput('bad-value', `${what} is not a possible time`);
  const microseconds = BigInt(date.getTime() - milliseconds) * 1000n + BigInt(fraction);
  return { date, microseconds, text };
}

function ascii(content: Uint8Array): string {
  // Longer content is no time; cutting it keeps hostile input cheap and still fails the patterns.
  return String.fromCharCode(...content.subarray(0, 40));
}
