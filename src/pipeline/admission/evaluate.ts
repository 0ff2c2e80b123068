import type { ConsentRequest } from '../../../schemas/api/consents.js';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import { ownMember } from '../../../schemas/json/own-member.js';
import { isSameTag } from '../../../schemas/language/language-tag.js';
import { isApproval, OBJECTION_TYPE } from '../../../schemas/law/acts.js';
import { RequestRefused } from '../../platform/errors.js';
import type { ActiveVersion, SiteContext } from '../../tenancy/directory/site-context.js';
import type { FoundToken } from './approval-tokens.js';
import type { ParsedConsent } from './parse-consents.js';
import { contradictoryServices } from './services.js';

export type SiteConfig = NonNullable<SiteContext['config']>;

/**
 * Preliminary decision on one consent, made before the transaction. The scope `whole` refuses a
 * submission batch as a whole, `item` refuses only this consent. A refusal does not apply to a
 * consent whose idempotency key is stored.
 */
export type Evaluation =
  | { readonly kind: 'refused'; readonly scope: 'whole' | 'item'; readonly error: RequestRefused }
  | {
      readonly kind: 'admissible';
      readonly config: SiteConfig;
      readonly version: ActiveVersion;
      readonly token: FoundToken | null;
    };

/**
 * Evaluates one consent against the state of its site.
 * @param token the consent's one-time token, or null if the consent has none or the site has no such token
 */
export function evaluate(consent: ParsedConsent, site: SiteContext, token: FoundToken | null): Evaluation {
  const { request } = consent;
  const outdated = (message: string): Evaluation => refused('whole', new RequestRefused('CONFIG_OUTDATED', message));

  if (site.config === null) return outdated('The site has no published configuration yet. Publish one.');
  if (request.document_version_id == null) return outdated('document_version_id is missing.');
  const version = site.activeVersions.get(request.document_version_id.toLowerCase());
  if (version === undefined)
    return outdated('document_version_id is not an active version of this site. Read /tool/v1/config again.');
  if (request.language != null && !isSameTag(request.language, version.language)) {
    return outdated('language differs from the language of this document version.');
  }
  if (request.consent_type === 'cookie' && version.kind !== 'cookie_policy') {
    return outdated('document_version_id of a cookie consent must be a version of a cookie_policy document.');
  }
  const errors = [
    ...contradictoryCategories(request, site.config),
    ...contradictoryServices(request, site.config.record),
  ];
  if (errors.length > 0) return refused('whole', new RequestRefused('INVALID_CATEGORIES', undefined, { errors }));
  const tokenError = evaluateToken(consent, version, token);
  if (tokenError !== null) return refused('item', tokenError);
  // The transaction decides by the row of the plan, but cannot tell whether that row was altered.
  if (!site.plan.isActive) return refused('item', noSubscription());
  return { kind: 'admissible', config: site.config, version, token };
}

/**
 * Returns the categories that contradict the decision, or the configuration with which the person was asked. Such a
 * record would be ambiguous forever: it says both yes and no.
 */
export function contradictoryCategories(
  { categories, consent_type: type, decision }: Pick<ConsentRequest, 'categories' | 'consent_type' | 'decision'>,
  { record }: SiteConfig,
): readonly FieldError[] {
  // Withdrawing must be as easy as consenting (GDPR Article 7(3)), so a withdrawal is never refused for its form.
  if (categories == null || decision === 'withdrawn') return [];
  const isOptional = record.categories.some(({ key, required }) => !required && Object.hasOwn(categories, key));
  if (type === OBJECTION_TYPE && !isOptional)
    return [{ field: 'categories', message: 'names no optional category of the configuration to object to' }];
  return record.categories.flatMap(({ key, required }): FieldError[] => {
    const isGranted = ownMember(categories, key);
    if (isGranted === undefined) return [];
    const field = `categories.${key}`;
    if (required && !isGranted) return [{ field, message: 'is a required category, which a person cannot refuse' }];
    return !required && isGranted && decision === 'rejected'
      ? [{ field, message: 'is granted, but the decision is rejected: send partial, or false' }]
      : [];
  });
}

function evaluateToken({ request, attachments }: ParsedConsent, version: ActiveVersion, token: FoundToken | null) {
  const invalid = (message: string): RequestRefused => new RequestRefused('APPROVAL_TOKEN_INVALID', message);
  const conflict = (message: string): RequestRefused => new RequestRefused('APPROVAL_TOKEN_CONFLICT', message);

  if (request.approval_token == null) {
    const personError = request.person_token == null ? null : personTokenError(request.visitor_id, token);
    if (personError !== null) return personError;
    // A client-defined consent_type must not bypass the token. An opt-out approves no document.
    const isNeeded = version.requiresApprovalToken && isApproval(request.consent_type);
    return isNeeded ? new RequestRefused('APPROVAL_TOKEN_REQUIRED') : null;
  }
  // A type of the tenant's own may approve a document that requires a token.
  if (!isApproval(request.consent_type))
    return invalid(`A consent of type ${request.consent_type} approves no document, so it has no approval token.`);
  if (token === null) return invalid('The approval token is unknown.');
  if (token.documentId === null) return invalid('This is a person token, which approves no document.');
  if (token.isConsumed) return tokenUsed('approval');
  if (token.isExpired) return invalid('The approval token has expired.');
  const matches =
    token.documentVersionId === null ? token.documentId === version.documentId : token.documentVersionId === version.id;
  if (!matches) return invalid('The approval token is for another document.');

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

/**
 * Returns why a person token does not name the person of a request.
 * @param visitorId the person whom the request names; absent: nobody
 * @param use `read` if the request only reads, for which a used token is good, too
 */
export function personTokenError(
  visitorId: string | null | undefined,
  token: FoundToken | null,
  use: 'record' | 'read' = 'record',
): RequestRefused | null {
  const invalid = (message: string): RequestRefused => new RequestRefused('PERSON_TOKEN_INVALID', message);
  const advice = 'Mint a new one at /tool/v1/s2s/person-tokens.';
  if (token === null) return invalid(`The person token is unknown. ${advice}`);
  if (token.documentId !== null) return invalid(`This is an approval token, which is for a document. ${advice}`);
  if (use === 'record' && token.isConsumed) return tokenUsed('person');
  if (token.isExpired) return invalid(`The person token has expired. ${advice}`);
  if (visitorId != null && visitorId !== token.identity.subject)
    return new RequestRefused(
      'PERSON_TOKEN_CONFLICT',
      'The person token is for another person than visitor_id names. Mint one for that person.',
    );
  return null;
}

/** Refuses a one-time token that was used before. */
export function tokenUsed(kind: 'approval' | 'person'): RequestRefused {
  return kind === 'approval'
    ? new RequestRefused('APPROVAL_TOKEN_CONFLICT', 'The approval token was used before.')
    : new RequestRefused(
        'PERSON_TOKEN_CONFLICT',
        'The person token was used before. Each recorded choice needs a token of its own.',
      );
}

function refused(scope: 'whole' | 'item', error: RequestRefused): Evaluation {
  return { kind: 'refused', scope, error };
}

/** A used-up quota lasts long, so a client that follows Retry-After must not retry every second. */
export const QUOTA_RETRY_SECONDS = 3600;

/** Refuses a consent of a tenant that has no active plan. */
export function noSubscription(): RequestRefused {
  return new RequestRefused('NO_CONSENT_SUBSCRIPTION', undefined, { retryAfterSeconds: QUOTA_RETRY_SECONDS });
}
