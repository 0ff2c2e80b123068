import type { Queryable } from '../platform/database/pool.js';
import { type BlindIndexKind, blindIndex, type Keyring, normalise } from '../platform/keys/index.js';
import { UnknownSite } from './errors.js';
import { accentedForms, caseForms, fullWidth, turkishForms, withoutMarks } from './letter-forms.js';
import { nextRecords } from './select-subjects.js';

/** Records that an erasure by one spelling of an identifier would erase. */
export interface SpellingMatch {
  readonly spelling: string;
  /** Whether it counts as equal to the wanted value. An erasure by that value erases only these. */
  readonly isExact: boolean;
  /** At most 1,000. */
  readonly records: number;
  readonly hasMore: boolean;
}

/**
 * Looks up an identifier and spellings that resemble it, without erasing or recording anything. The
 * service stores no values to compare with, only indexes, so that it tries a closed list of spellings:
 * other spellings of the person are not found.
 * @param db in the role `consent_ledger_worker`
 * @returns the wanted value first, also if it has no records; others only if they have records
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
 * Spellings that resemble a value, and that indexes hold apart because they can be another person's.
 * @returns each once, without those that count as equal to the value
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
