import type { Queryable } from '../platform/database/pool.js';
import { type BlindIndexKind, blindIndex, type Keyring, normalise } from '../platform/keys/index.js';
import { UnknownSite } from './journal.js';
import { nextRecords } from './select-subjects.js';

/** Records that an erasure by one spelling of an identifier would erase. */
export interface SpellingMatch {
  readonly spelling: string;
  /** Whether the spelling counts as equal to the wanted value. An erasure by that value only erases equal spellings. */
  readonly isExact: boolean;
  /** Number of records, at most 1,000. */
  readonly records: number;
  readonly hasMore: boolean;
}

/**
 * Looks up an identifier and spellings that resemble it, without erasing or recording anything. The service stores
 * blind indexes, not values that could be compared, so it tries a fixed list of spellings and finds no others.
 * @param db a handle in the role `consent_ledger_worker`
 * @returns the given value first, even without records; other spellings only if they have records
 * @throws UnknownSite; KeyError, database errors
 */
export async function findSpellings(
  db: Queryable,
  keyring: Pick<Keyring, 'siteKey' | 'openKeyRows'>,
  siteId: string,
  person: { readonly kind: BlindIndexKind; readonly value: string },
): Promise<readonly SpellingMatch[]> {
  const { rowCount } = await db.query('select from sites where id = $1', [siteId]);
  if (rowCount !== 1) throw new UnknownSite(siteId);
  const siteKey = await keyring.siteKey(siteId);
  const matches: SpellingMatch[] = [];
  for (const [place, spelling] of [person.value, ...nearSpellings(person.kind, person.value)].entries()) {
    const target = { kind: 'person', index: person.kind, value: blindIndex(siteKey, person.kind, spelling) } as const;
    const { eventIds, next } = await nextRecords(db, keyring, { siteId, target }, null);
    const isExact = place === 0;
    if (isExact || eventIds.length > 0) {
      matches.push({ spelling, isExact, records: eventIds.length, hasMore: next !== null });
    }
  }
  return matches;
}

/**
 * Returns spellings that resemble a value but have another blind index, because they could belong to another person.
 * @returns each spelling once, without those that count as equal to the value
 */
export function nearSpellings(kind: BlindIndexKind, value: string): readonly string[] {
  const normal = normalise(kind, value);
  const found = new Map([[normal, value]]);
  for (const spelling of variantsOf(kind, normal)) {
    const form = normalise(kind, spelling);
    if (form !== '' && !found.has(form)) found.set(form, spelling);
  }
  return [...found.values()].slice(1);
}

function variantsOf(kind: BlindIndexKind, value: string): readonly string[] {
  switch (kind) {
    case 'visitor':
    case 'id_number':
      return variantsOfId(value);
    case 'email':
      return variantsOfEmail(value);
    case 'phone':
      return variantsOfPhone(value);
  }
}

/** Case, surrounding and inner white space, separators, and compatible characters. */
function variantsOfId(value: string): readonly string[] {
  const plain = value.normalize('NFKC').trim();
  const joined = plain.replace(/[\s./_\p{Pd}]/gu, '');
  return [value.trim(), plain, joined, plain.replace(/\s+/gu, ' '), ` ${plain}`, `${plain} `, fullWidth(plain)].flatMap(
    caseForms,
  );
}

/** Case, compatible characters, white space, a part after +, dots before the @, and accents. */
function variantsOfEmail(value: string): readonly string[] {
  const plain = value.normalize('NFKC').replace(/\s/gu, '');
  const at = plain.lastIndexOf('@');
  if (at < 0) return [plain, ...caseForms(plain)];
  const [local, domain] = [plain.slice(0, at), plain.slice(at)];
  const withoutTag = local.split('+', 1)[0] ?? local;
  const forms = [local, withoutTag, local.replaceAll('.', ''), withoutTag.replaceAll('.', ''), withoutMarks(local)];
  const found = [...forms.flatMap(caseForms), ...turkishForms(local), ...accentedForms(local), fullWidth(local)];
  return [...found.map((text) => text + domain), local + fullWidth('@') + domain.slice(1), fullWidth(plain)];
}

/** With and without + and the leading 0, and the ends of the number without 1 to 3 digits of a country code. */
function variantsOfPhone(value: string): readonly string[] {
  const digits = value.replace(/\D/g, '');
  const national = digits.replace(/^0+/, '');
  const forms = [`+${digits}`, digits, `+${national}`, national, `0${national}`];
  for (const length of value.startsWith('+') ? [1, 2, 3] : []) {
    const rest = digits.slice(length);
    if (rest.length < MIN_NATIONAL_DIGITS) continue;
    const country = digits.slice(0, length);
    forms.push(rest, `0${rest}`, `+${country}0${rest}`, `+${country}${rest.replace(/^0+/, '')}`);
  }
  return forms;
}

const MIN_NATIONAL_DIGITS = 5;

/**
 * Returns the texts that changes of case turn a text into, or turn into the text: in the root locale and in Turkish (`İ
 * i`, `I ı`), with `ß` as `ss`, and with both forms of the final sigma. Two changes are applied in a row, because one
 * can remove a distinction that the other needs.
 */
function caseForms(text: string): readonly string[] {
  const once = CASE_CHANGES.map((change) => change(text));
  return [text, ...once, ...once.flatMap((form) => CASE_CHANGES.map((change) => change(form)))];
}

const CASE_CHANGES: readonly ((text: string) => string)[] = [
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => text.toLocaleLowerCase('tr'),
  (text) => text.toLocaleUpperCase('tr'),
  (text) => text.replaceAll('ß', 'ss').replaceAll('ẞ', 'SS'),
  (text) => text.replaceAll('ss', 'ß').replaceAll('SS', 'ẞ'),
  (text) => text.replaceAll('ς', 'σ'),
];

/** Lower-case letters that people and programs interchange in Turkish names. */
const TURKISH: readonly (readonly string[])[] = [
  ['i', 'ı', 'i\u0307'],
  ['c', 'ç'],
  ['g', 'ğ'],
  ['o', 'ö'],
  ['s', 'ş'],
  ['u', 'ü'],
];
/** A limit, because each spelling costs a query. */
const MOST_FORMS = 256;

/**
 * The spellings of a text in which Turkish letters are exchanged in every combination; beyond
 * `MOST_FORMS`, those of its first letters.
 */
function turkishForms(text: string): readonly string[] {
  let forms = [''];
  for (const [letter] of text
    .toLowerCase()
    .normalize('NFC')
    .matchAll(/i\u0307|./gsu)) {
    const same = TURKISH.find((letters) => letters.includes(letter)) ?? [letter];
    const isFull = forms.length * same.length > MOST_FORMS;
    forms = forms.flatMap((form) => (isFull ? [form + letter] : same.map((one) => form + one)));
  }
  return forms;
}

/** Grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, ring, double acute, caron, cedilla, ogonek. */
const MARKS = [...'\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328'];

/** The spellings of a text in which one letter has an accent, for each letter that Unicode composes with it. */
function accentedForms(text: string): readonly string[] {
  const letters = [...text];
  return letters.flatMap((letter, place) =>
    MARKS.map((mark) => (letter + mark).normalize('NFC'))
      .filter((composed) => composed.length === 1)
      .map((composed) => letters.with(place, composed).join('')),
  );
}

/** Returns a text without accents and other marks. */
function withoutMarks(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

/** A text in the wide forms of East Asian keyboards. */
function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}
