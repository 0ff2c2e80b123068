import { RequestRefused } from '../../platform/errors/request-refused.js';
import type { ActiveVersion, SiteContext } from '../../tenancy/directory/site-context.js';
import type { ParsedConsent } from './parse-consents.js';
import type { FoundToken } from './token-identity.js';

export type SiteConfig = NonNullable<SiteContext['config']>;

/**
 * What one consent comes to, as far as it can be said outside the transaction. `whole`: within a batch this refuses the batch, else the item
 * alone. A refusal does not hold for an item whose idempotency key is remembered.
 */
export type Judgement =
  | { readonly kind: 'refused'; readonly scope: 'whole' | 'item'; readonly error: RequestRefused }
  | {
      readonly kind: 'fit';
      readonly config: SiteConfig;
      readonly version: ActiveVersion;
      readonly token: FoundToken | null;
    };

/** @param token what the consent's approval token was found to be; null if it has none, or none such exists for the site */
export function judge(consent: ParsedConsent, site: SiteContext, token: FoundToken | null): Judgement {
  const { request } = consent;
  const outdated = (message: string): Judgement => refused('whole', new RequestRefused('CONFIG_OUTDATED', message));

  if (site.config === null) return outdated('The site has no published configuration yet. Publish one.');
  if (request.document_version_id == null) return outdated('document_version_id is missing.');
  const version = site.activeVersions.get(request.document_version_id.toLowerCase());
  if (version === undefined) return outdated('document_version_id is not an active version of this site.');
  if (request.language != null && request.language.toLowerCase() !== version.language.toLowerCase()) {
    return outdated('language differs from the language of this document version.');
  }
  if (request.consent_type === 'cookie' && version.kind !== 'cookie_policy') {
    return outdated('document_version_id of a cookie consent must be a version of a cookie_policy document.');
  }
  const tokenError = judgeToken(consent, version, token);
  if (tokenError !== null) return refused('item', tokenError);
  return { kind: 'fit', config: site.config, version, token };
}

/** Types in use that approve of no document. */
const NO_APPROVAL: ReadonlySet<string> = new Set(['cookie', 'do_not_sell_opt_out']);

function judgeToken({ request, attachments }: ParsedConsent, version: ActiveVersion, token: FoundToken | null) {
  const invalid = (message: string): RequestRefused => new RequestRefused('APPROVAL_TOKEN_INVALID', message);
  const conflict = (message: string): RequestRefused => new RequestRefused('APPROVAL_TOKEN_CONFLICT', message);

  if (request.approval_token == null) {
    // A consent_type of the caller's own making must not be a way around the token; an opt-out approves of nothing.
    const isNeeded = version.requiresApprovalToken && !NO_APPROVAL.has(request.consent_type);
    return isNeeded ? new RequestRefused('APPROVAL_TOKEN_REQUIRED') : null;
  }
  if (request.consent_type !== 'document_approval')
    return invalid('An approval token is valid only with consent_type document_approval.');
  if (token === null) return invalid('The approval token is unknown.');
  if (token.isConsumed) return conflict('The approval token was used before.');
  if (token.isExpired) return invalid('The approval token has expired.');
  const fits =
    token.documentVersionId === null ? token.documentId === version.documentId : token.documentVersionId === version.id;
  if (!fits) return invalid('The approval token is for another document.');

  const { identity } = token;
  const stated: readonly [unknown, string | boolean | undefined, string][] = [
    [request.visitor_id, identity.subject, 'visitor_id'],
    [request.signer_name, identity.signer_name, 'signer_name'],
    [request.signer_email, identity.signer_email, 'signer_email'],
    [request.signer_phone, identity.signer_phone, 'signer_phone'],
    [request.signer_id_number, identity.signer_id_number, 'signer_id_number'],
    [request.otp_verified, identity.otp_verified, 'otp_verified'],
    [request.otp_reference, identity.otp_reference, 'otp_reference'],
  ];
  for (const [said, vouched, name] of stated) {
    if (said != null && vouched !== undefined && said !== vouched)
      return conflict(`${name} contradicts the approval token.`);
  }
  const document = attachments.find(({ field }) => field === 'custom_document_content');
  if (token.customDocumentHash !== null && document?.sha256 !== token.customDocumentHash) {
    return conflict('custom_document_content does not match custom_document_hash of the approval token.');
  }
  return null;
}

function refused(scope: 'whole' | 'item', error: RequestRefused): Judgement {
  return { kind: 'refused', scope, error };
}
