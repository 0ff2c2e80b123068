import type { BrowserConsent } from '../shared/types.js';
import type { Configuration } from './answers.js';

/** Further fields of a document approval, in addition to those that the SDK fills in. */
export type ApprovalFields = Omit<
  BrowserConsent,
  'consent_type' | 'document_version_id' | 'language' | 'idempotency_key'
>;

/** How the visitor was asked, as the record keeps it. */
export type Presentation = NonNullable<BrowserConsent['presentation']>;

/** Statements that a record has in addition to the answers of a choice. */
export type StatedWithChoice = Pick<BrowserConsent, 'presentation' | 'iab'>;

/** The notice that a user interface shows while a signal counts as an opt-out, as the record of the signal states it. */
export type NoticeOf = (
  configuration: Configuration,
  isConflict: boolean,
) => Presentation & { readonly notice: ShownNotice };
export type ShownNotice = NonNullable<Presentation['notice']>;

/** A consent to send to the service. */
export interface Outgoing {
  readonly key: string;
  /** The exact text that every attempt sends. */
  readonly body: string;
  /** Unix milliseconds of the action, by the visitor's clock; the order of what is sent. */
  readonly at: number;
}

/** Completes a consent with what the page knows. @param visitorId undefined if an approval token names the person */
export function outgoing(
  consent: BrowserConsent,
  { region, rule_id }: Configuration,
  { key, at, now, visitorId, isSignalled }: OutgoingOptions,
): Outgoing {
  // The service knows the law: the configuration named it.
  const body: Omit<BrowserConsent, 'compliance_framework'> & { compliance_framework?: string | null | undefined } = {
    source: 'client',
    visitor_id: visitorId,
    // JSON leaves out what is undefined.
    visitor_country: region.country ?? undefined,
    compliance_framework: region.compliance_framework ?? undefined,
    rule_id,
    ...consent,
    metadata: {
      ...consent.metadata,
      // The record states when it was accepted. A choice made offline was made earlier.
      chosen_at: new Date(Math.min(at, now)).toISOString(),
      gpc: isSignalled || undefined,
    },
    idempotency_key: key,
  };
  return { key, at, body: JSON.stringify(body) };
}

export interface OutgoingOptions {
  readonly key: string;
  readonly at: number;
  /** Unix milliseconds of the visitor's clock. */
  readonly now: number;
  readonly visitorId: string | undefined;
  readonly isSignalled: boolean;
}
