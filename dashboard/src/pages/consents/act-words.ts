import type { PublicRecord } from '../../api/types.js';
import type { Messages } from '../../i18n/messages.js';
import { decisionLook } from './filters.js';

type Act = Pick<PublicRecord, 'consent_type' | 'decision'>;

/** What the person did. An opt-out and an objection are no consent, and their decisions have words of their own. */
export function actText({ consent_type: type, decision }: Act, consents: Messages['consents']): string {
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = consents.acts;
  return (Object.hasOwn(words, type) ? words[type]?.[decision] : undefined) ?? consents.decisions[decision];
}

/** The colour of an act, which its words repeat: green and red are for answers to a question. */
export function actLook({ consent_type: type, decision }: Act): ReturnType<typeof decisionLook> {
  return type === 'objection' || type === 'do_not_sell_opt_out' ? 'neutral' : decisionLook(decision);
}
