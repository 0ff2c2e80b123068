import { claimedTimeOf } from './consent-words.js';
import type { ListedConsent } from './listed-consent.js';

/**
 * Adds to each consent the next one of the same person with the same type. An imported consent counts as older than
 * every one that was recorded here, and imported ones are ordered by the time that the former tool states. An invalid
 * record supersedes nothing, because anyone can write one into a package. The choice of a device supersedes none of an
 * account, because any browser can state the person’s id.
 * @param consents the consents in the order of the ledger, with their final verdicts
 * @param isOfOnePerson whether all of them are of one person; otherwise the disclosed visitor ids decide
 */
export function withSuccessors(consents: readonly ListedConsent[], isOfOnePerson: boolean): readonly ListedConsent[] {
  const latest = new Map<string, ListedConsent>();
  const successors = new Map<ListedConsent, ListedConsent>();
  for (const consent of inForceOrder(consents).toReversed()) {
    const key = keyOf(consent, isOfOnePerson);
    if (key === null) continue;
    const ofAccount = consent.scope === 'account' ? `account ${key}` : null;
    const next = latest.get(ofAccount ?? key);
    if (consent.verdict !== 'invalid') for (const one of [key, ofAccount]) if (one !== null) latest.set(one, consent);
    if (next !== undefined) successors.set(consent, next);
  }
  return consents.map((consent) => {
    const next = successors.get(consent);
    if (next === undefined) return consent;
    const { event_id, decision, verdict } = next;
    return { ...consent, superseded_by: { event_id, decision, verdict, claimed_at: claimedTimeOf(next) } };
  });
}

function inForceOrder(consents: readonly ListedConsent[]): readonly ListedConsent[] {
  const timeOf = (one: ListedConsent): string => claimedTimeOf(one) ?? '';
  const imported = consents.filter((one) => one.imported !== null);
  if (imported.length === 0) return consents;
  imported.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
  return [...imported, ...consents.filter((one) => one.imported === null)];
}

function keyOf({ stream, consent_type: type, disclosed }: ListedConsent, isOfOnePerson: boolean): string | null {
  if (type === null) return null;
  if (isOfOnePerson) return JSON.stringify([stream, type]);
  const visitor = disclosed.visitor_id;
  return typeof visitor === 'string' ? JSON.stringify([stream, type, visitor]) : null;
}
