import { actOf } from '../../../schemas/law/acts.js';
import type { ListedConsent } from './listed-consent.js';

/** Filter of the consents that a list shows. */
export interface ConsentSelection {
  /** A text that a record contains: an id, a disclosed value, a title or a type. If it is empty, any record matches. */
  readonly text: string;
  /** Null permits any. */
  /** By `actOf`. */
  readonly decision: string | null;
  /** Null permits any. */
  readonly verdict: ListedConsent['verdict'] | 'erased' | null;
}

/** Returns the consents that match all conditions, in the same order. */
export function selectConsents(
  consents: readonly ListedConsent[],
  { text, decision, verdict }: ConsentSelection,
): readonly ListedConsent[] {
  const wanted = folded(text);
  return consents.filter(
    (consent) =>
      (decision === null || actOf(consent) === decision) &&
      (verdict === null || (verdict === 'erased' ? consent.erased : consent.verdict === verdict)) &&
      (wanted === '' || textsOf(consent).some((one) => folded(one).includes(wanted))),
  );
}

/** Returns the consents with this disclosed value: the history of a person, in the order of the ledger. */
export function consentsOfPerson(consents: readonly ListedConsent[], person: string): readonly ListedConsent[] {
  const wanted = folded(person);
  return consents.filter(({ disclosed }) =>
    Object.values(disclosed).some((value) => typeof value === 'string' && folded(value) === wanted),
  );
}

function textsOf(consent: ListedConsent): readonly string[] {
  const { event_id: id, consent_token: token, consent_type: type, text, disclosed } = consent;
  const values = Object.values(disclosed).filter((value) => typeof value === 'string');
  return [id, token, ...[type, text?.title].filter((one) => one !== null && one !== undefined), ...values];
}

/** Longest text that is normalised, in UTF-16 code units. The time is quadratic in the number of combining marks. */
const MAX_FOLDED = 1000;

/** Folds a text for comparison: case and look-alike forms are ignored. */
function folded(text: string): string {
  return (text.length > MAX_FOLDED ? text : text.normalize('NFKC')).trim().toLowerCase();
}
