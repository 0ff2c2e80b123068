import { BitReader, readOrNull } from './bits.js';

/** Sections of GPP that the SDK writes and the verifier reads, with their numbers in IAB's register. */
const SECTIONS = { usnat: 7, usca: 8 } as const;
export const GPP_SECTION_NAMES = ['usnat', 'usca'] as const satisfies (keyof typeof SECTIONS)[];
export type GppSection = (typeof GPP_SECTION_NAMES)[number];

/** Opt-outs of a section, by IAB's names. */
export const OPT_OUTS = ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'] as const;
export type OptOut = (typeof OPT_OUTS)[number];

/** IAB's values of an opt-out. */
export const OPT_OUT_VALUES = ['not_applicable', 'opted_out', 'not_opted_out'] as const;
export type OptOutValue = (typeof OPT_OUT_VALUES)[number];

/** The fields of the sections from after `Version` to the opt-outs, each of two bits. */
const FIELDS: Readonly<Record<GppSection, readonly string[]>> = {
  usnat: [
    'SharingNotice',
    'SaleOptOutNotice',
    'SharingOptOutNotice',
    'TargetedAdvertisingOptOutNotice',
    'SensitiveDataProcessingOptOutNotice',
    'SensitiveDataLimitUseNotice',
    'SaleOptOut',
    'SharingOptOut',
    'TargetedAdvertisingOptOut',
  ],
  usca: ['SaleOptOutNotice', 'SharingOptOutNotice', 'SensitiveDataLimitUseNotice', 'SaleOptOut', 'SharingOptOut'],
};

/** Length of the shortest core that IAB's library reads. The library refuses a core that ends after the opt-outs. */
const CORE_CHARACTERS: Readonly<Record<GppSection, number>> = { usnat: 10, usca: 8 };

/** The statements of one section of the United States. */
export interface OptOutStatement {
  readonly section: GppSection;
  readonly optOuts: Readonly<Partial<Record<OptOut, OptOutValue>>>;
  /** Global Privacy Control, or null if the section does not state it. */
  readonly gpc: boolean | null;
}

/** The statements of a GPP string (IAB Tech Lab, Global Privacy Platform). */
export interface GppStatement {
  readonly sections: readonly OptOutStatement[];
  /** Numbers of sections that are present and that this program does not read. */
  readonly others: readonly number[];
}

const TYPE = 3;
const VERSION = 1;
const GPC_SEGMENT = 1;
const LARGEST_SECTION = 1_000;
const MOST_SECTIONS = 40;

/**
 * Reads a GPP string: its header, and the opt-outs of the sections `usnat` and `usca`.
 * @returns null if it is not a GPP string of version 1, its header names sections that no register has, or a section
 *   is cut or has another segment than that of Global Privacy Control
 */
export function readGppString(text: string): GppStatement | null {
  return readOrNull(() => {
    const [header = '', ...parts] = text.split('~');
    const ids = readHeader(new BitReader(header));
    if (ids.length !== parts.length) throw new RangeError('header and sections differ');
    const sections: OptOutStatement[] = [];
    const others: number[] = [];
    for (const [index, id] of ids.entries()) {
      const section = GPP_SECTION_NAMES.find((name) => SECTIONS[name] === id);
      if (section === undefined) others.push(id);
      else sections.push(readSection(section, parts[index] ?? ''));
    }
    return { sections, others };
  });
}

/** Reads the numbers of the sections: a Fibonacci range, where a few characters could name billions. */
function readHeader(bits: BitReader): number[] {
  if (bits.number(6) !== TYPE || bits.number(6) !== VERSION) throw new RangeError('not GPP version 1');
  const ids: number[] = [];
  let last = 0;
  for (let left = bits.number(12); left > 0; left -= 1) {
    const isRange = bits.flag();
    const first = last + fibonacci(bits);
    last = isRange ? first + fibonacci(bits) : first;
    if (last > LARGEST_SECTION || ids.length + last - first >= MOST_SECTIONS) throw new RangeError('too many sections');
    for (let id = first; id <= last; id += 1) ids.push(id);
  }
  return ids;
}

/** A number in Fibonacci coding, which ends with two bits that are set. */
function fibonacci(bits: BitReader): number {
  let [value, before, current] = [0, 1, 1];
  for (let wasSet = false; ; ) {
    const isSet = bits.flag();
    if (isSet && wasSet) return value;
    if (isSet) value += current;
    wasSet = isSet;
    [before, current] = [current, before + current];
    if (value > LARGEST_SECTION) throw new RangeError('too large');
  }
}

function readSection(section: GppSection, text: string): OptOutStatement {
  const [core = '', ...segments] = text.split('.');
  if (core.length < CORE_CHARACTERS[section]) throw new RangeError('the section ends early');
  const bits = new BitReader(core);
  bits.number(6); // Version: the fields as far as the opt-outs are the same in all
  const optOuts: Partial<Record<OptOut, OptOutValue>> = {};
  for (const field of FIELDS[section]) {
    const value = OPT_OUT_VALUES[bits.number(2)];
    if (value === undefined) throw new RangeError('no value of an opt-out');
    const name = OPT_OUTS.find((optOut) => optOut === field);
    if (name !== undefined) optOuts[name] = value;
  }
  return { section, optOuts, gpc: readGpc(segments) };
}

/**
 * Reads the segment of Global Privacy Control. Several segments, or one of another type, are refused, because readers
 * disagree about them.
 */
function readGpc([segment, ...more]: readonly string[]): boolean | null {
  if (segment === undefined) return null;
  const bits = new BitReader(segment);
  if (more.length > 0 || bits.number(2) !== GPC_SEGMENT) throw new RangeError('not one segment of the signal');
  return bits.flag();
}
