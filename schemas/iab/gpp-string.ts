import { BitReader, readOrNull } from './bits.js';

/**
 * Sections of GPP for laws of the United States that the SDK writes and the verifier reads: the number in IAB's register,
 * how many fields of two bits stand between `Version` and the opt-outs, the length of the shortest core that IAB's
 * library reads (it refuses a core that ends after the opt-outs), and whether the section states Global Privacy Control.
 */
const SECTIONS = {
  usnat: [7, 6, 10, true],
  usca: [8, 3, 8, true],
  usva: [9, 3, 7, false],
  usco: [10, 3, 7, true],
  usut: [11, 4, 7, false],
  usct: [12, 3, 8, true],
  usfl: [13, 3, 8, false],
  usmt: [14, 3, 8, true],
  usor: [15, 3, 9, true],
  ustx: [16, 3, 7, true],
  usde: [17, 3, 9, true],
  usia: [18, 4, 7, true],
  usne: [19, 3, 7, true],
  usnh: [20, 3, 8, true],
  usnj: [21, 3, 9, true],
  ustn: [22, 3, 7, true],
  usmn: [23, 3, 7, true],
  usmd: [24, 5, 4, true],
  usin: [25, 5, 4, false],
  usky: [26, 5, 4, false],
  usri: [27, 5, 4, false],
} as const;
export type GppSection = keyof typeof SECTIONS;
/** The section of the National Approach, and those of the states, each named by the state's code. */
export const GPP_SECTION_NAMES = [
  ...(['usnat', 'usca', 'usva', 'usco', 'usut', 'usct', 'usfl', 'usmt', 'usor', 'ustx', 'usde'] as const),
  ...(['usia', 'usne', 'usnh', 'usnj', 'ustn', 'usmn', 'usmd', 'usin', 'usky', 'usri'] as const),
] as const satisfies readonly GppSection[];

/** Opt-outs of a section, by IAB's names. */
export const OPT_OUTS = ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'] as const;
export type OptOut = (typeof OPT_OUTS)[number];

/** IAB's values of an opt-out. */
export const OPT_OUT_VALUES = ['not_applicable', 'opted_out', 'not_opted_out'] as const;
export type OptOutValue = (typeof OPT_OUT_VALUES)[number];

/** The opt-outs of each section in their order. Those of a state are of sale and of targeted advertising. */
const OPT_OUTS_OF: Readonly<Partial<Record<GppSection, readonly OptOut[]>>> = {
  usnat: OPT_OUTS,
  usca: ['SaleOptOut', 'SharingOptOut'],
};
const OF_STATES = ['SaleOptOut', 'TargetedAdvertisingOptOut'] as const satisfies readonly OptOut[];

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
 * Reads a GPP string: its header, and the opt-outs of the sections of the United States.
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
      const section = GPP_SECTION_NAMES.find((name) => SECTIONS[name][0] === id);
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
  const [, before, shortest, hasGpc] = SECTIONS[section];
  const [core = '', ...segments] = text.split('.');
  if (core.length < shortest) throw new RangeError('the section ends early');
  const bits = new BitReader(core);
  bits.number(6); // Version: the fields as far as the opt-outs are the same in all
  const value = (): OptOutValue => {
    const found = OPT_OUT_VALUES[bits.number(2)];
    if (found === undefined) throw new RangeError('no value of an opt-out');
    return found;
  };
  for (let left = before; left > 0; left -= 1) value();
  const optOuts = Object.fromEntries((OPT_OUTS_OF[section] ?? OF_STATES).map((name) => [name, value()]));
  return { section, optOuts, gpc: hasGpc ? readGpc(segments) : null };
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
