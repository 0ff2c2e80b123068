import type { JsonValue } from '../../../schemas/json/json-value.js';
import { actOf, answersQuestion } from '../../../schemas/law/acts.js';
import type { Texts } from '../i18n/texts.js';
import { decisionWord } from '../rendering/wording.js';
import type { ListedConsent } from './listed-consent.js';

/** Names of disclosed values that identify the person, the clearest first. */
const PERSON_FIELDS = ['signer_name', 'signer_email', 'signer_phone', 'visitor_id'] as const;

/** Values that identify the person of the record, the clearest first. Empty if the package discloses none. */
export function personValues({ disclosed }: ListedConsent): readonly string[] {
  return PERSON_FIELDS.map((name) => disclosed[name]).filter((value) => isText(value));
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/** The decision, with the account whose choice it is, or the former tool that states it. */
export function decisionText(one: ListedConsent, texts: Texts): string {
  const { imported, scope } = one;
  const act = actOf(one);
  const word = act === null ? '' : decisionWord(act, texts);
  if (scope === 'account') return texts.list.byAccount(word);
  return imported === null ? word : texts.list.imported(word, imported.from);
}

/**
 * The time at which the person decided, as the service or a former tool claims, or null if the record cannot be read.
 */
export function claimedTimeOf({ imported, recorded_at: recordedAt }: ListedConsent): string | null {
  return imported?.claimed_at ?? recordedAt;
}

/** The text that was agreed to, with its version. */
export function titleText({ text }: ListedConsent, { list }: Texts): string {
  return text === null ? list.notShown : list.titleVersion(text.title, text.number);
}

/**
 * Describes the later erasure or replacement of the record, as far as the package shows it, or null if there is none.
 */
export function afterwardsText(one: ListedConsent, texts: Texts): string | null {
  const parts = [...erasureText(one, texts), ...successorText(one, texts)];
  return parts.length === 0 ? null : parts.join('; ');
}

function erasureText({ erased, erasure_verdict: verdict }: ListedConsent, { list }: Texts): string[] {
  if (!erased) return [];
  return [verdict === null || verdict === 'valid' ? list.erased : list.erasedUnproved];
}

function successorText({ consent_type: type, superseded_by: next }: ListedConsent, { list }: Texts): string[] {
  if (next === null) return [];
  // What follows is of the same type.
  const ended = type !== null && !answersQuestion(type) ? list.takenBackLater : list.withdrawnLater;
  const text = next.decision === 'withdrawn' ? ended : list.replacedLater;
  return [next.verdict === 'valid' ? text : list.unproved(text)];
}
