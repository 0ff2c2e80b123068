import { BitReader, readOrNull } from './bits.js';

/** Numbers of vendors as ranges, first and last included, in ascending order and disjoint. */
export type VendorRanges = readonly (readonly [number, number])[];

/** The statements of a TC string (IAB Europe, Transparency and Consent String v2). */
export interface TcStatement {
  /** Unix milliseconds; TCF allows whole days only. */
  readonly created: number;
  readonly updated: number;
  readonly cmpId: number;
  readonly cmpVersion: number;
  /** Two letters, upper case. */
  readonly language: string;
  readonly vendorListVersion: number;
  readonly policyVersion: number;
  readonly isServiceSpecific: boolean;
  /** Whether the question had other texts than the standard ones of IAB Europe (`UseNonStandardTexts`). */
  readonly hasOwnTexts: boolean;
  readonly specialFeatures: readonly number[];
  readonly purposes: readonly number[];
  readonly legitimateInterests: readonly number[];
  readonly publisherCountry: string;
  readonly vendors: VendorRanges;
  readonly vendorLegitimateInterests: VendorRanges;
  /** The publisher's own restrictions. */
  readonly restrictions: number;
  /** Vendors that were disclosed to the person, or null if the string does not state them. */
  readonly disclosed: VendorRanges | null;
  /**
   * Whether the string states more: that purpose 1 was not disclosed, purposes of the publisher, vendors that are
   * allowed, or a segment of another kind or for the second time.
   */
  readonly hasMore: boolean;
}

const VERSION = 2;
const CORE_SEGMENT = 0;
const DISCLOSED_SEGMENT = 1;
const PUBLISHER_SEGMENT = 3;
/** Purposes in a string, declared or not. */
const PURPOSES = 24;
const DECISECOND_MS = 100;

/**
 * Reads a TC string. Ranges stay ranges, because a text of a few thousand characters can name a hundred million
 * vendors, and listing them would exhaust memory.
 * @param text a text that is no longer than `IabSignals` admits
 * @returns null if it is not a TC string of version 2, has a second core, or has ranges that overlap or are not
 *   ascending
 */
export function readTcString(text: string): TcStatement | null {
  const [core = '', ...segments] = text.split('.');
  return readOrNull(() => {
    const stated = readCore(new BitReader(core));
    const more = readSegments(segments);
    return { ...stated, ...more, hasMore: stated.hasMore || more.hasMore };
  });
}

function readCore(bits: BitReader): Omit<TcStatement, 'disclosed'> {
  if (bits.number(6) !== VERSION) throw new RangeError('not version 2');
  const created = bits.number(36) * DECISECOND_MS;
  const updated = bits.number(36) * DECISECOND_MS;
  const cmpId = bits.number(12);
  const cmpVersion = bits.number(12);
  bits.number(6); // consentScreen
  const language = letters(bits);
  const vendorListVersion = bits.number(12);
  const policyVersion = bits.number(6);
  const isServiceSpecific = bits.flag();
  const hasOwnTexts = bits.flag();
  const specialFeatures = bits.positions(12);
  const purposes = bits.positions(PURPOSES);
  const legitimateInterests = bits.positions(PURPOSES);
  const isPurposeOneUntold = bits.flag();
  const publisherCountry = letters(bits);
  const vendors = readVendors(bits);
  const vendorLegitimateInterests = readVendors(bits);
  const restrictions = readRestrictions(bits);
  return {
    created,
    updated,
    cmpId,
    cmpVersion,
    language,
    vendorListVersion,
    policyVersion,
    isServiceSpecific,
    hasOwnTexts,
    specialFeatures,
    purposes,
    legitimateInterests,
    publisherCountry,
    vendors,
    vendorLegitimateInterests,
    restrictions,
    hasMore: isPurposeOneUntold,
  };
}

/**
 * Skips the restrictions of the publisher, and throws if the string ends within them.
 * @returns the number of restrictions
 */
function readRestrictions(bits: BitReader): number {
  const restrictions = bits.number(12);
  for (let left = restrictions; left > 0; left -= 1) {
    bits.number(8); // purpose and kind
    for (let ranges = bits.number(12); ranges > 0; ranges -= 1) bits.number(bits.flag() ? 32 : 16);
  }
  return restrictions;
}

function readSegments(segments: readonly string[]): Pick<TcStatement, 'disclosed' | 'hasMore'> {
  let disclosed: VendorRanges | null = null;
  let hasMore = false;
  let hasPublisher = false;
  for (const segment of segments) {
    const bits = new BitReader(segment);
    const kind = bits.number(3);
    // IAB's library would use the statements of the second core instead of the first.
    if (kind === CORE_SEGMENT) throw new RangeError('two cores');
    if (kind === DISCLOSED_SEGMENT && disclosed === null) disclosed = readVendors(bits);
    else if (kind !== PUBLISHER_SEGMENT || hasPublisher || hasPublisherPurposes(bits)) hasMore = true;
    hasPublisher ||= kind === PUBLISHER_SEGMENT;
  }
  return { disclosed, hasMore };
}

/** Whether a segment of the publisher states purposes. The library writes a segment without purposes. */
function hasPublisherPurposes(bits: BitReader): boolean {
  const consents = bits.positions(PURPOSES);
  const interests = bits.positions(PURPOSES);
  return consents.length + interests.length + bits.number(6) > 0;
}

function letters(bits: BitReader): string {
  const letter = (): string => String.fromCharCode('A'.charCodeAt(0) + bits.number(6));
  const both = letter() + letter();
  if (!/^[A-Z]{2}$/.test(both)) throw new RangeError('not two letters');
  return both;
}

/** A section of vendors: one bit for each, or ranges. */
function readVendors(bits: BitReader): VendorRanges {
  const largest = bits.number(16);
  if (!bits.flag()) return joined(bits.positions(largest));
  const ranges: [number, number][] = [];
  for (let left = bits.number(12); left > 0; left -= 1) {
    const isRange = bits.flag();
    const first = bits.number(16);
    const last = isRange ? bits.number(16) : first;
    const before = ranges.at(-1)?.[1] ?? 0;
    if (first <= before || last < first || last > largest) throw new RangeError('ranges are not in order');
    ranges.push([first, last]);
  }
  return ranges;
}

function joined(numbers: readonly number[]): VendorRanges {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** The number of vendors. */
export function countVendors(ranges: VendorRanges): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** Whether every vendor of the ranges is one of a list. @param known ascending or not */
export function areKnownVendors(ranges: VendorRanges, known: readonly number[]): boolean {
  const numbers = new Set(known);
  const isKnown = (first: number, last: number): boolean => {
    for (let number = first; number <= last; number += 1) if (!numbers.has(number)) return false;
    return true;
  };
  return countVendors(ranges) <= numbers.size && ranges.every(([first, last]) => isKnown(first, last));
}

/** Whether every vendor of some ranges is in one of other ranges, both ascending and disjoint. */
export function areWithin(ranges: VendorRanges, others: VendorRanges): boolean {
  return ranges.every(([first, last]) => others.some(([start, end]) => start <= first && last <= end));
}
