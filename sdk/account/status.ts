import type { AccountPorts, Person } from '../core/account.js';
import { type Asked, digestsOf, isAsked } from '../core/asked.js';
import type { Kept } from '../core/choice.js';
import { isDecision } from '../core/choice-text.js';
import { areAnswers, isText, listOf, nullable, objectOf, optional } from '../core/guards.js';
import type { InForce } from '../core/queue.js';
import { beside } from '../core/transitions.js';

/** Consents that the service shows at most, in one answer, and the types that make a choice. */
const MOST_SHOWN = 20;
const TYPES = ['cookie', 'objection', 'do_not_sell_opt_out'] as const;

/** A consent of an account in force, as the service shows it to whoever has a person token. */
export interface AccountConsent extends Omit<InForce, 'imported_from'> {
  readonly consent_type: string;
  readonly decision: Kept['decision'];
  readonly document_version_id: string;
  readonly language: string;
  readonly valid_until: string | null;
  readonly ask_again_at: string | null;
  /** What the question asked for. */
  readonly asked?: Asked | undefined;
  /** Keys of the categories that were exempt from consent where the person was asked. */
  readonly exempt?: readonly string[] | undefined;
}

const isAccountStatus = objectOf<{ consents: AccountConsent[] }>({
  consents: listOf(
    objectOf<AccountConsent>({
      consent_token: isText,
      proof_hash: isText,
      created_at: isText,
      consent_type: isText,
      decision: isDecision,
      categories: nullable(areAnswers),
      services: optional(nullable(areAnswers)),
      document_version_id: isText,
      language: isText,
      valid_until: nullable(isText),
      ask_again_at: nullable(isText),
      asked: optional(isAsked),
      exempt: optional(listOf(isText)),
    }),
  ),
});

/**
 * Reads the account's consents in force.
 * @param token a person token, which reading does not use up
 * @returns the newest first
 * @throws ServiceError
 */
export async function readAccount(
  { id }: Person,
  { service }: AccountPorts,
  token: string,
): Promise<readonly AccountConsent[]> {
  const path = `/tool/v1/consents/status?visitor_id=${encodeURIComponent(id)}`;
  const get = (query: string) => service.get(path + query, isAccountStatus, { 'X-Person-Token': token });
  const { consents } = await get('');
  const missing =
    consents.length < MOST_SHOWN ? [] : TYPES.filter((type) => consents.every((one) => one.consent_type !== type));
  const others = await Promise.all(missing.map((type) => get(`&consent_type=${type}`)));
  return [consents, ...others.map((one) => one.consents)].flat();
}

/**
 * The account's choice.
 * @param consents in force, the newest first
 * @returns null if there is none
 */
export function accountChoice(consents: readonly AccountConsent[]): Kept | null {
  const newest = (type: string) => consents.find(({ consent_type }) => consent_type === type);
  const choice = newest('cookie');
  const objection = newest('objection');
  const optOut = newest('do_not_sell_opt_out');
  const [first] = [choice, objection, optOut].flatMap((one) => one ?? []);
  if (first === undefined) return null;
  const objectedTo = objection?.decision === 'rejected' ? Object.keys(objection.categories ?? {}) : [];
  const exempt = Object.fromEntries([
    ...(choice?.exempt ?? []).map((key) => [key, true]),
    ...objectedTo.map((key) => [key, false]),
  ]);
  const opt_out = optOut && optOut.decision === 'accepted';
  if (choice === undefined) return beside(null, Date.parse(first.created_at), { exempt, opt_out });
  const { decision, categories, services, document_version_id, language, valid_until, ask_again_at, asked } = choice;
  const isPermitted = decision === 'accepted' || decision === 'partial';
  const end = isPermitted ? valid_until : ask_again_at;
  return {
    decision,
    isPermitted,
    wasPermitted: decision === 'withdrawn',
    isVoid: false,
    isSignalled: false,
    at: Date.parse(choice.created_at),
    categories: { ...categories },
    services: services ? { ...services } : undefined,
    document_version_id,
    language,
    consent_token: choice.consent_token,
    proof_hash: choice.proof_hash,
    created_at: choice.created_at,
    ask_again_at: end === null ? undefined : Date.parse(end),
    asked: asked && digestsOf(asked),
    exempt,
    opt_out,
  };
}
