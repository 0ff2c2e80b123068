import { isText, objectOf, parseJson } from '../core/guards.js';
import type { AccountConsent } from './status.js';

/** What the body of a consent that waits for the service says. */
export interface Waiting {
  readonly consent_type: string;
  readonly decision: string;
  /** When the person decided. */
  readonly at: number;
}

const isSent = objectOf<{ consent_type: string; decision: string; metadata: { chosen_at: string } }>({
  consent_type: isText,
  decision: isText,
  metadata: objectOf<{ chosen_at: string }>({ chosen_at: isText }),
});

/** @returns undefined for a body that does not say when the person decided */
export function waitingOf(body: string): Waiting | undefined {
  const sent = parseJson(body, isSent);
  return sent && { ...sent, at: Date.parse(sent.metadata.chosen_at) };
}

/** The decisions that permit something, by type. */
const PERMITS: Readonly<Record<string, RegExp>> = {
  cookie: /^(accepted|partial)$/,
  objection: /^withdrawn$/,
  do_not_sell_opt_out: /^(withdrawn|rejected)$/,
};

/** Whether a consent permits something. */
function isPermit({ consent_type, decision }: Waiting): boolean {
  return PERMITS[consent_type]?.test(decision) === true;
}

/**
 * Whether the person decided something else later, on another device, so that a permission that still waits must not be
 * recorded as the latest. A refusal is recorded in any case: the time of a record is that of its arrival, so nobody can
 * tell a later decision from an earlier one of this device that arrived late.
 * @param consents those of the account in force, but for those of this page
 */
export function isPassed(waiting: Waiting | undefined, consents: readonly AccountConsent[]): boolean {
  if (waiting === undefined || !isPermit(waiting)) return false;
  const { consent_type: type, at } = waiting;
  return consents.some((one) => one.consent_type === type && Date.parse(one.created_at) > at);
}

/** Whether a consent opts out of sale and sharing. */
export function isOptOut(waiting: Waiting | undefined): boolean {
  return waiting?.consent_type === 'do_not_sell_opt_out' && waiting.decision === 'accepted';
}
