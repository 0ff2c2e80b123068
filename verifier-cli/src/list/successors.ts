import type { ListedConsent } from './listed-consent.js';

/**
 * Adds to each consent the next one of the same person with the same type. An invalid record follows
 * none: anyone can write one into a package.
 * @param consents in the order of the ledger, with their final verdicts
 * @param isOfOnePerson whether all of them are of one person; otherwise a disclosed visitor id tells
 */
export function withSuccessors(consents: readonly ListedConsent[], isOfOnePerson: boolean): readonly ListedConsent[] {
  const latest = new Map<string, ListedConsent>();
  return consents
    .toReversed()
    .map((consent) => {
      const key = keyOf(consent, isOfOnePerson);
      if (key === null) return consent;
      const next = latest.get(key);
      if (consent.verdict !== 'invalid') latest.set(key, consent);
      if (next === undefined) return consent;
      return { ...consent, superseded_by: { event_id: next.event_id, decision: next.decision, verdict: next.verdict } };
    })
    .toReversed();
}

function keyOf({ stream, consent_type: type, disclosed }: ListedConsent, isOfOnePerson: boolean): string | null {
  if (type === null) return null;
  if (isOfOnePerson) return JSON.stringify([stream, type]);
  const visitor = disclosed.visitor_id;
  return typeof visitor === 'string' ? JSON.stringify([stream, type, visitor]) : null;
}
