import { counted } from '../../../schemas/text/counted.js';
import { durationText, type Units } from './duration-text.js';
import { FINDING_TEXTS, type FindingCode } from './finding-texts.js';

/** One thing that a check found: a code with its values. */
export interface Finding {
  readonly code: FindingCode;
  readonly values: Readonly<Record<string, Value>>;
}

type Value = string | number | Finding;

/** A finding as a report states it. */
export interface Stated {
  /** The message in English. */
  readonly message: string;
  /** Absent if there is nothing to say. */
  readonly code?: FindingCode;
  /** Values for the names in braces in the text, absent if there are none. */
  readonly values?: Readonly<Record<string, StatedValue>>;
}

export type StatedValue = string | number | Omit<Stated, 'message'>;

type NameIn<Place> = Place extends `${infer Name}:${string}` ? Name : Place;
type NamesIn<Text> = Text extends `${string}{${infer Place}}${infer Rest}` ? NameIn<Place> | NamesIn<Rest> : never;
type NamesOf<Code extends FindingCode> = Exclude<NamesIn<(typeof FINDING_TEXTS)[Code]>, typeof PLACE_OF_INPUT>;
type ValuesOf<Code extends FindingCode> = [NamesOf<Code>] extends [never]
  ? readonly []
  : readonly [Readonly<Record<NamesOf<Code>, Value>>];

/**
 * Name in braces that is not a value: `{where:ledger-key}` says where the reader gives this input to the verifier,
 * because the command has options and the page has fields.
 */
const PLACE_OF_INPUT = 'where';

/** Inputs that a finding asks the reader for, and where the reader gives each. */
export type InputPlaces = Readonly<Record<'ledger-key' | 'tsa-ca' | 'consistency', string>>;

/** Words of one language that are inserted into texts of findings. */
export interface FindingWords {
  /** The texts of findings, for values that are themselves findings. */
  readonly texts: Readonly<Record<FindingCode, string>>;
  readonly units: Units;
  readonly places: InputPlaces;
}

export const ENGLISH_UNITS: Units = { days: 'd', hours: 'h', minutes: 'min', seconds: 's' };
/** The words of the command, which JSON reports use. */
const ENGLISH: FindingWords = {
  texts: FINDING_TEXTS,
  units: ENGLISH_UNITS,
  places: { 'ledger-key': 'with --ledger-key', 'tsa-ca': 'with --tsa-ca', consistency: 'with --consistency' },
};
/** Longer texts are truncated, so that a package cannot fill memory or the report with its own text. */
const MAX_TEXT = 400;
const PLACE = /\{(\w+)(?::([^}]*))?\}/g;

/**
 * A finding with a text in every language.
 * @param values values for the names in braces in the text; they may be hostile
 */
export function finding<Code extends FindingCode>(code: Code, ...[values]: ValuesOf<Code>): Finding {
  return { code, values: values ?? {} };
}

/** @param found null if there is nothing to say */
export function stated(found: Finding | null): Stated {
  if (found === null) return { message: '' };
  return { message: englishText(found), ...statedCode(found.code, found.values) };
}

/** Extracts the finding from a larger object. */
export function wordsOf({ message, code, values }: Stated): Stated {
  return { message, ...(code !== undefined && { code }), ...(values !== undefined && { values }) };
}

/**
 * Fills in the values of a finding.
 * @param text a text with names in braces, as in `FINDING_TEXTS`
 */
export function fillFinding(text: string, values: Readonly<Record<string, StatedValue>>, words: FindingWords): string {
  const { texts, units, places } = words;
  const filled = text.replace(PLACE, (_, name: string, format: string | undefined) => {
    if (name === PLACE_OF_INPUT) return isInput(places, format) ? places[format] : '';
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value === 'object')
      return value.code === undefined ? '' : fillFinding(texts[value.code], value.values ?? {}, words);
    if (typeof value !== 'number' || format === undefined) return String(value);
    if (format === 'duration') return durationText(value, units);
    const [one = '', many = ''] = format.split('|');
    return counted(value, one, many);
  });
  return cutText(filled);
}

function isInput(places: InputPlaces, name: string | undefined): name is keyof InputPlaces {
  return name !== undefined && Object.hasOwn(places, name);
}

/**
 * Returns the detail of a finding that comes from code that only speaks English: the parser of tokens and certificates.
 * It is the last value of its text, and reports in other languages mark it as English.
 * @returns null if the finding has none
 */
export function englishDetail({ values = {} }: Stated): string | null {
  const { detail } = values;
  return typeof detail === 'string' ? detail : null;
}

/** The English text. */
export function englishText(found: Finding): string {
  return fillFinding(FINDING_TEXTS[found.code], statedValues(found.values), ENGLISH);
}

function statedCode(code: FindingCode, values: Readonly<Record<string, Value>>): Omit<Stated, 'message'> {
  return Object.keys(values).length === 0 ? { code } : { code, values: statedValues(values) };
}

function statedValues(values: Readonly<Record<string, Value>>): Readonly<Record<string, StatedValue>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, statedValue(value)]));
}

function statedValue(value: Value): StatedValue {
  if (typeof value === 'string') return cutText(value);
  if (typeof value === 'number') return value;
  return statedCode(value.code, value.values);
}

/** A text, cut if it is too long for a report. */
export function cutText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`;
}
