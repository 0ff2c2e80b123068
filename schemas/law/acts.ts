/*
 * The acts that are no answer to a question of consent. This file does not import zod, because the first script of the
 * page that looks records up uses it.
 */

/** The type of a consent that is an opt-out: `accepted` means that the person does not want the sale of the data. */
export const OPT_OUT_TYPE = 'do_not_sell_opt_out';

/**
 * The type of an objection to what runs without consent: `rejected` when it is made, with `categories` false for what is
 * objected to, and `withdrawn` without categories when it is taken back.
 */
export const OBJECTION_TYPE = 'objection';

/**
 * Whether a decision of this type answers a question of consent. An opt-out and an objection do not: they are in no rate
 * of acceptance, end what runs without consent, have no end of their own, and need no approval token.
 */
export function answersQuestion(consentType: string): boolean {
  return consentType !== OPT_OUT_TYPE && consentType !== OBJECTION_TYPE;
}

/** Whether a consent of this type may approve a document, and needs an approval token if the document requires one. */
export function isApproval(consentType: string): boolean {
  return consentType !== 'cookie' && answersQuestion(consentType);
}

/** What a person did, as a record says it. Null in a record that cannot be read. */
export interface StatedAct {
  readonly consent_type: string | null;
  readonly decision: string | null;
}

/**
 * The name of an act for people: the decision, or for what answers no question the type before it. So nothing that is no
 * consent is ever counted or shown as one.
 */
export function actOf({ consent_type: type, decision }: StatedAct): string | null {
  return type === null || decision === null || answersQuestion(type) ? decision : `${type} ${decision}`;
}
