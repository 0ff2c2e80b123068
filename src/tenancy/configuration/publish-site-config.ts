import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import {
  configProblems,
  SITE_CONFIG_PUBLISHED,
  SiteConfigPublishedRecord,
} from '../../../schemas/events/site-config.js';
import { isOnDomain } from '../../../schemas/text/withdrawal-url.js';
import type { Queryable } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { changeSite, type LockedSite, noticeHead, putNotice } from '../sites/change-site.js';
import { lapsedProof } from '../sites/proof-state.js';
import {
  type ConfigContent,
  type ConfigDraftState,
  contentOfDraft,
  contentOfRecord,
  draftOfContent,
  hasChanges,
  readConfigDraft,
  refuseOtherRevision,
  storeConfigDraft,
} from './draft.js';
import { IncompleteConfiguration, namedVendorList, problemsOf } from './problems.js';
import { type FindVendorList, vendorListsIn } from './vendor-lists.js';

const { v, event_id, site_id, created_at, number, domain, ...content } = SiteConfigPublishedRecord.shape;

/** The input for publishing: the record without the members that the service adds. */
export const SiteConfig = z
  .strictObject({ ...content, cookies: content.cookies.default([]) })
  .superRefine(({ languages, default_language, categories, cookies }, context) => {
    if (!languages.includes(default_language)) {
      const message = 'default_language must be one of languages';
      context.addIssue({ code: 'custom', message, path: ['default_language'] });
    }
    for (const problem of configProblems(categories, cookies)) context.addIssue({ code: 'custom', ...problem });
  });
export type SiteConfig = z.input<typeof SiteConfig>;

export interface PublishedConfig {
  /** SHA-256 of the record's text: the `site_config_hash` of later consents. */
  readonly sha256: string;
  /** Starts at 1, without gaps. */
  readonly number: number;
  readonly eventId: string;
}

export interface PublishOptions {
  /** True also publishes for an unverified domain, for demonstrations. */
  readonly forAnyDomain?: boolean;
  /** Finds the vendor list that the configuration names. If omitted, no list is found. */
  readonly findVendorList?: FindVendorList;
}

/**
 * Publishes a configuration of a site, which is in force immediately and replaces the site's draft.
 * @throws ChangeRefused `invalid` (IncompleteConfiguration if a text is missing), `not_found`,
 *   `wrong_state` (the site is not verified)
 */
export function publishSiteConfig(
  db: Queryable,
  siteId: string,
  config: SiteConfig,
  { forAnyDomain = false, findVendorList = vendorListsIn(undefined) }: PublishOptions = {},
): Promise<PublishedConfig> {
  const checked = accepted(SiteConfig, config);
  return changeSite(db, siteId, async (site) => {
    if (!forAnyDomain) refuseUnverified(site);
    const before = await readConfigDraft(site.db, siteId);
    const draft = draftOfContent(checked, before.draft.cookies);
    await storeConfigDraft(site.db, siteId, before.revision, draft);
    return publish(site, await completed({ ...before, draft }, findVendorList));
  });
}

/**
 * Publishes the draft of a site's configuration, which is then in force immediately.
 * @param revision expected revision of the draft
 * @throws ChangeRefused `not_found`, `wrong_state` (the site is not verified, another revision, or
 *   no change), `invalid` (IncompleteConfiguration)
 */
export function publishConfigDraft(
  db: Queryable,
  siteId: string,
  revision: number,
  findVendorList: FindVendorList,
): Promise<PublishedConfig> {
  return changeSite(db, siteId, async (site) => {
    refuseUnverified(site);
    const state = await readConfigDraft(site.db, siteId);
    refuseOtherRevision(state, revision);
    const config = await completed(state, findVendorList);
    if (!hasChanges(state)) {
      throw new ChangeRefused(
        'wrong_state',
        'The draft equals the configuration in force. There is nothing to publish.',
      );
    }
    return publish(site, config);
  });
}

/**
 * Publishes the content of an earlier version again, which is then in force immediately as a new version. A draft
 * without changes becomes the same; one with changes stays as it is.
 * @param revision expected revision of the draft
 * @param number of the version
 * @throws ChangeRefused `not_found`, `wrong_state` (the site is not verified, another revision, or the version in force
 *   is the same), `invalid` (IncompleteConfiguration: it is not accepted any more)
 */
export function publishVersionAgain(
  db: Queryable,
  siteId: string,
  { revision, number }: { readonly revision: number; readonly number: number },
  findVendorList: FindVendorList,
): Promise<PublishedConfig> {
  return changeSite(db, siteId, async (site) => {
    refuseUnverified(site);
    const state = await readConfigDraft(site.db, siteId);
    refuseOtherRevision(state, revision);
    const draft = draftOfContent(contentOfRecord(await publishedRecord(site, number)), state.draft.cookies);
    const config = await completed({ ...state, draft }, findVendorList);
    if (!hasChanges({ ...state, draft })) {
      throw new ChangeRefused('wrong_state', `Version ${number} equals the configuration in force.`);
    }
    if (!hasChanges(state)) await storeConfigDraft(site.db, siteId, state.revision, draft);
    return publish(site, config);
  });
}

/** A published version. @throws ChangeRefused `not_found` */
async function publishedRecord({ db, siteId }: LockedSite, number: number): Promise<SiteConfigPublishedRecord> {
  const { rows } = await db.query('select sha256, record from site_configs where site_id = $1 and number = $2', [
    siteId,
    number,
  ]);
  const [row] = z.array(z.object({ sha256: z.string(), record: z.string() })).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no configuration ${number}.`);
  // An altered row would be published under a hash of its own.
  if (sha256Hex(row.record) !== row.sha256)
    throw new ChangeRefused('wrong_state', `Version ${number} was altered in the database, and is not published.`);
  return parseSiteConfig(row.record);
}

/**
 * Publishes the configuration in force again if the site's domain has changed. The draft is not
 * used.
 * @returns the number of the new version, or null if the domain is the same or nothing is published
 */
export async function republishForDomain(site: LockedSite): Promise<number | null> {
  const { rows } = await site.db.query(
    'select c.record from sites s join site_configs c on c.sha256 = s.site_config_hash where s.id = $1',
    [site.siteId],
  );
  const [row] = z.array(z.object({ record: z.string() })).parse(rows);
  const record = row === undefined ? null : parseSiteConfig(row.record);
  if (record === null || record.domain === site.domain) return null;
  const { withdrawal_url: url, ...content } = contentOfRecord(record);
  // An address on the former domain is no longer the site's.
  const isKept = url !== undefined && isOnDomain(url, site.domain, false);
  return (await publish(site, { ...content, ...(isKept && { withdrawal_url: url }) })).number;
}

/**
 * Refuses an unverified domain, and one whose proof is gone for 30 days, because a published configuration permanently names, in the log, the party responsible
 * for it.
 * @throws ChangeRefused `wrong_state`
 */
function refuseUnverified({ domain, isVerified, isProofLapsed }: LockedSite): void {
  if (isProofLapsed) throw new ChangeRefused('wrong_state', lapsedProof(domain));
  if (isVerified) return;
  throw new ChangeRefused('wrong_state', `The site is not verified: verify the domain ${domain} first.`);
}

/** The content of a complete draft. @throws IncompleteConfiguration */
async function completed(state: ConfigDraftState, findVendorList: FindVendorList): Promise<ConfigContent> {
  const { draft } = state;
  const problems = problemsOf(draft, await namedVendorList(draft, findVendorList), state);
  if (problems.length > 0) throw new IncompleteConfiguration(problems);
  return z.strictObject(content).parse(contentOfDraft(draft));
}

async function publish(site: LockedSite, config: ConfigContent): Promise<PublishedConfig> {
  const { db: client, siteId } = site;
  const { rows } = await client.query(
    'select coalesce(max(number), 0) + 1 as number from site_configs where site_id = $1',
    [siteId],
  );
  const [next] = z.tuple([z.object({ number: z.int() })]).parse(rows);
  const head = noticeHead(site);
  const record: SiteConfigPublishedRecord = { ...head, v: 1, ...next, domain: site.domain, ...config };
  const text = await putNotice(site, SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord, record);
  const sha256 = sha256Hex(text);
  await client.query(
    `insert into site_configs (sha256, site_id, number, event_id, record, published_at) values ($1, $2, $3, $4, $5, $6)`,
    [sha256, siteId, next.number, head.event_id, text, site.now],
  );
  await client.query('update sites set site_config_hash = $2 where id = $1', [siteId, sha256]);
  return { sha256, number: next.number, eventId: head.event_id };
}
