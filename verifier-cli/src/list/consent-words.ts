import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { ListedConsent } from './listed-consent.js';

/** Names of disclosed values that say who the person is, the clearest first. */
const PERSON_FIELDS = ['signer_name', 'signer_email', 'signer_phone', 'visitor_id'] as const;

/** Who the record is about, as far as the package discloses it; null: it does not. */
export function personText({ disclosed }: ListedConsent): string | null {
  const values = PERSON_FIELDS.map((name) => disclosed[name]).filter((value) => isText(value));
  return values.length === 0 ? null : values.slice(0, 2).join(', ');
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/** The text that was agreed to, with its version. */
export function titleText({ text }: ListedConsent): string {
  return text === null ? 'not shown' : `${text.title}, version ${text.number}`;
}

/** What became of the record afterwards, as far as the package shows it; null: nothing. */
export function afterwardsText(one: ListedConsent): string | null {
  const parts = [...erasureText(one), ...successorText(one)];
  return parts.length === 0 ? null : parts.join('; ');
}

function erasureText({ erased, erasure_verdict: verdict }: ListedConsent): string[] {
  if (!erased) return [];
  return [verdict === null || verdict === 'valid' ? 'personal details erased' : 'named by an erasure, not proved'];
}

function successorText({ superseded_by: next }: ListedConsent): string[] {
  if (next === null) return [];
  const text = next.decision === 'withdrawn' ? 'withdrawn later' : 'replaced by a later record';
  return [next.verdict === 'valid' ? text : `${text}, not proved`];
}
