import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { lateMembersOf, type SealedConsent } from '../../../schemas/events/consent-imported.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import type { ConsentCategory, SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { ownMember } from '../../../schemas/json/own-member.js';
import { OPT_OUT_TYPE } from '../../../schemas/law/acts.js';
import type { ProvedRecord } from '../../evidence/records/person-records.js';
import type { FoundToken } from '../../pipeline/admission/approval-tokens.js';
import { personTokenError } from '../../pipeline/admission/evaluate.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import type { SiteContext, SiteDirectory } from '../../tenancy/directory/site-context.js';

/** The header by which a request reads the choices of an account. A token must not be in an address, which is logged. */
export const PERSON_TOKEN_HEADER = 'X-Person-Token';

export interface AccountDeps {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly directory: Pick<SiteDirectory, 'site'>;
}

/** The records of a person that a request may read. */
export interface Sight {
  /** The site of the request, and then those that share its choices of accounts. */
  readonly sites: readonly SiteContext[];
  readonly includes: (of: SiteContext, found: Pick<ProvedRecord, 'record' | 'documentId'>) => boolean;
  /** Whether the answer says what the person was asked for. */
  readonly hasQuestions: boolean;
}

/** What a request without a person token reads: everything of its site, and nothing of others. */
export function sightOfSite(site: SiteContext): Sight {
  return { sites: [site], includes: () => true, hasQuestions: false };
}

/**
 * What a person token lets a request read: the choices of the account, on all sites of the person space. What another
 * site asked about a document that this one does not have says nothing here, but an opt-out holds everywhere.
 * @param token null if the site has no such token
 * @throws RequestRefused PERSON_TOKEN_INVALID, PERSON_TOKEN_CONFLICT
 */
export async function sightOfAccount(
  deps: AccountDeps,
  site: SiteContext,
  visitorId: string,
  token: FoundToken | null,
): Promise<Sight> {
  const error = personTokenError(visitorId, token, 'read');
  if (error !== null) throw error;
  const documents = new Set([...site.activeVersions.values()].map((version) => version.documentId));
  return {
    sites: [site, ...(await sharingSites(deps, site))],
    includes: (of, { record, documentId }) =>
      lateMembersOf(record).scope === 'account' &&
      (of.siteId === site.siteId ||
        record.consent_type === OPT_OUT_TYPE ||
        (documentId !== null && documents.has(documentId))),
    hasQuestions: true,
  };
}

const SiteIds = z.array(z.object({ id: z.string() }));

/** The other sites of the tenant whose configuration in force names the same person space. */
async function sharingSites({ db, directory }: AccountDeps, site: SiteContext): Promise<readonly SiteContext[]> {
  const space = site.config?.record.accounts?.person_space ?? null;
  if (space === null) return [];
  const { rows } = await db.query({
    name: 'sites of a person space',
    text: `select s.id from sites s join site_configs c on c.sha256 = s.site_config_hash
            where s.tenant_id = $1 and s.id <> $2 and strpos(c.record, $3) > 0 order by s.id`,
    values: [site.tenantId, site.siteId, canonicalJson({ accounts: { person_space: space } }).slice(1, -1)],
  });
  const found = await Promise.all(SiteIds.parse(rows).map(({ id }) => siteUnlessAltered(directory, id)));
  return found
    .filter((one) => one !== null)
    .filter((one) => one.tenantId === site.tenantId && one.config?.record.accounts?.person_space === space);
}

async function siteUnlessAltered(directory: Pick<SiteDirectory, 'site'>, siteId: string): Promise<SiteContext | null> {
  try {
    return await directory.site(siteId);
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'INVALID_API_KEY') return null;
    throw error;
  }
}

/** What a person was asked for, and what was exempt from the question. */
export interface Question {
  /** As the SDKs keep it with a choice: what is asked for, and then who receives data. */
  readonly asked: readonly (readonly string[])[];
  readonly exempt: readonly string[];
}

const ConfigRows = z.array(z.object({ sha256: z.string(), record: z.string() }));

/**
 * Finds what was asked with some records.
 * @returns a function that returns the question of each
 * @throws Error if the configuration that a record names is not stored, or does not match its hash
 */
export async function questionsOf(
  db: Queryable,
  records: readonly SealedConsent[],
): Promise<(record: SealedConsent) => Question> {
  const hashes = [...new Set(records.map((record) => record.site_config_hash))];
  const { rows } = await db.query('select sha256, record from site_configs where sha256 = any($1)', [hashes]);
  const configs = new Map(
    ConfigRows.parse(rows)
      .filter(({ sha256, record }) => sha256Hex(record) === sha256)
      .map(({ sha256, record }) => [sha256, parseSiteConfig(record)]),
  );
  return (record) => {
    const config = configs.get(record.site_config_hash);
    if (config === undefined) throw new Error(`the configuration of record ${record.event_id} is not stored as it was`);
    return questionIn(config, lateMembersOf(record).rule_id);
  };
}

/**
 * Returns what a configuration asks for under a rule, in the order of `askedIn` of the SDKs: a device compares the two.
 * @param ruleId null for none: everything optional is then asked for
 */
export function questionIn(
  { categories, rules = [], iab }: Pick<SiteConfigPublishedRecord, 'categories' | 'rules' | 'iab'>,
  ruleId: string | null,
): Question {
  const rule = rules.find(({ id }) => id === ruleId);
  const ruleOf = ({ key }: ConsentCategory) => ownMember(rule?.categories ?? {}, key)?.rule ?? 'opt_in';
  const optional = categories.filter((one) => !one.required && ruleOf(one) === 'opt_in');
  const { vendors = [], purposes = {}, special_features: features = {} } = iab?.tcf ?? {};
  const named = (kind: string, by: Readonly<Record<string, readonly number[]>>, all?: readonly number[]): string[] =>
    Object.entries(by).flatMap(([key, some]) => (all ?? some).map((one) => `${key}/${kind}${one}`));
  return {
    asked: [
      [...optional.map(({ key }) => key), ...named('p', purposes), ...named('f', features)],
      [
        ...optional.flatMap(({ key, recipients, services = [] }) => [
          ...recipients.map((one) => `${key}/r${one}`),
          ...services.map((one) => `${key}/s/${one.key}/${one.recipient}`),
        ]),
        ...named('v', purposes, vendors),
      ],
    ],
    exempt: categories.filter((one) => ruleOf(one) === 'exempt').map(({ key }) => key),
  };
}
