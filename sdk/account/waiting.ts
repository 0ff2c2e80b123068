import { isText, objectOf, parseJson } from '../core/guards.js';
import type { AccountConsent } from './status.js';

/** What the body of a consent that waits for the service says. */
export interface Waiting {
  readonly consent_type: string;
  /** When the person decided. */
  readonly at: number;
}

const isSent = objectOf<{ consent_type: string; metadata: { chosen_at: string } }>({
  consent_type: isText,
  metadata: objectOf<{ chosen_at: string }>({ chosen_at: isText }),
});

/** @returns undefined for a body that does not say when the person decided */
export function waitingOf(body: string): Waiting | undefined {
  const sent = parseJson(body, isSent);
  return sent && { consent_type: sent.consent_type, at: Date.parse(sent.metadata.chosen_at) };
}

/**
 * Whether the person decided something else later, on another device.
 * @param consents those of the account in force
 */
export function isPassed(waiting: Waiting | undefined, consents: readonly AccountConsent[]): boolean {
  if (waiting === undefined) return false;
  const { consent_type: type, at } = waiting;
  const isChoice = type === 'cookie' || type === 'objection' || type === 'do_not_sell_opt_out';
  return isChoice && consents.some((one) => one.consent_type === type && Date.parse(one.created_at) > at);
}

const isSale = (value: unknown): value is 'do_not_sell_opt_out' => value === 'do_not_sell_opt_out';
const isAccepted = (value: unknown): value is 'accepted' => value === 'accepted';
const isStatedOptOut = objectOf<{ consent_type: 'do_not_sell_opt_out'; decision: 'accepted' }>({
  consent_type: isSale,
  decision: isAccepted,
});

/** Whether a body opts out of sale and sharing. */
export function isOptOut(body: string): boolean {
  return parseJson(body, isStatedOptOut) !== undefined;
}
