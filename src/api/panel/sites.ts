import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  ChangeSiteRequest,
  CreateSiteRequest,
  DomainVerification,
  RetentionRules,
  Site,
  VerifyDomainRequest,
} from '../../../schemas/api/panel/sites.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { beforeAndAfter } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused, serviceUnavailable } from '../../platform/errors.js';
import type { DomainChallenges, PageProofKind } from '../../tenancy/domains/challenges.js';
import {
  challengeOfSite,
  DnsUnavailable,
  isChallengeMet,
  refusePublicSuffix,
  type SiteChallenge,
  verifySite,
} from '../../tenancy/domains/verify-site.js';
import { changeRetentionPeriod, RETENTION_COLUMNS } from '../../tenancy/sites/change-site.js';
import { Proof } from '../../tenancy/sites/proof-state.js';
import { changeSiteSettings, createSite } from '../../tenancy/sites/sites.js';
import { EDITORS, PROTECTORS, READERS } from './caller.js';
import { type PanelDeps, route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'Sites' } as const;

/**
 * Sites of the caller's own tenant. A domain is proved by a TXT record in the DNS, or by a page,
 * which are looked up outside the transaction.
 */
export const SITE_OPERATIONS = [
  route({
    ...shared,
    id: 'listSites',
    path: '/api/v1/sites',
    summary: 'List the sites of the tenant, oldest first',
    roles: READERS,
    query: PageQuery,
    response: pageOf(Site),
    handle: ({ user, query }, { apiPool }) => siteList(apiPool, user.tenantId, query),
  }),
  route({
    ...shared,
    id: 'createSite',
    method: 'post',
    path: '/api/v1/sites',
    summary: 'Create a site',
    description:
      'The site can record consents once its domain is verified and a configuration is published. Sites are never deleted, because the evidence of their consents remains.',
    roles: EDITORS,
    body: CreateSiteRequest,
    example: { body: { name: 'Shop', domain: 'shop.example', allowed_origins: ['https://shop.example'] } },
    status: 201,
    response: dataOf(Site),
    action: 'site.create',
    change: async ({ user, body }, db) => {
      const retention = RetentionRules.strip().parse(body);
      const { id } = await createSite(db, {
        tenantId: user.tenantId,
        name: body.name,
        domain: body.domain,
        isVerified: false,
        allowedOrigins: body.allowed_origins,
        allowedIps: body.allowed_ips,
        retention,
      });
      return {
        response: { data: await siteOf(db, user.tenantId, id) },
        subject: { kind: 'site', id },
        details: { domain: body.domain, ...retention },
      };
    },
  }),
  route({
    ...shared,
    id: 'readSite',
    path: '/api/v1/sites/{site_id}',
    summary: 'Get a site',
    roles: READERS,
    params: SiteParams,
    response: dataOf(Site),
    handle: async ({ user, params }, { apiPool }) => ({
      data: await siteOf(apiPool, user.tenantId, params.site_id),
    }),
  }),
  route({
    ...shared,
    id: 'changeSite',
    method: 'patch',
    path: '/api/v1/sites/{site_id}',
    summary: 'Change settings of a site',
    description:
      'Absent members stay as they are. A new domain is not verified: the Tool API returns 403 SITE_NOT_VERIFIED until it is. The retention period has an operation of its own.',
    roles: EDITORS,
    params: SiteParams,
    body: ChangeSiteRequest,
    example: { body: { name: 'The shop', allowed_ips: ['192.0.2.0/24'] } },
    response: dataOf(Site),
    action: 'site.change',
    change: async ({ user, params, body }, db) => {
      const before = await siteOf(db, user.tenantId, params.site_id);
      const changed = await changeSiteSettings(db, params.site_id, body);
      const data = await siteOf(db, user.tenantId, params.site_id);
      return {
        response: { data },
        subject: { kind: 'site', id: params.site_id },
        details: { changed: [...changed], ...beforeAndAfter(before, data, SETTINGS) },
      };
    },
  }),
  route({
    ...shared,
    id: 'changeRetentionPeriod',
    method: 'put',
    path: '/api/v1/sites/{site_id}/retention-period',
    summary: 'Set the site’s retention period',
    description:
      'Personal data of older records is erased within an hour of the change, permanently; therefore the operation requires a role that may erase. The audit log has the period before and after.',
    roles: PROTECTORS,
    params: SiteParams,
    body: RetentionRules,
    example: { body: { retention_days: 1095 } },
    response: dataOf(Site),
    action: 'site.change_retention_period',
    change: async ({ user, params, body }, db) => {
      const details = await changeRetentionPeriod(db, params.site_id, body);
      return {
        response: { data: await siteOf(db, user.tenantId, params.site_id) },
        subject: { kind: 'site', id: params.site_id },
        details,
      };
    },
  }),
  route({
    ...shared,
    id: 'readDomainVerification',
    path: '/api/v1/sites/{site_id}/domain-verification',
    summary: 'Get what proves the ownership of the domain',
    roles: READERS,
    params: SiteParams,
    response: dataOf(DomainVerification),
    handle: async ({ params }, { apiPool }) => ({
      data: shownChallenge(await challengeOfSite(apiPool, params.site_id)),
    }),
  }),
  route({
    ...shared,
    id: 'verifyDomain',
    method: 'post',
    path: '/api/v1/sites/{site_id}/domain-verification',
    summary: 'Verify the domain of a site',
    description:
      'File and tag are read by HTTPS, and prove the host without its subdomains. If the configuration in force has another domain, it is published again with this domain, so that evidence states where a consent was given.',
    roles: EDITORS,
    params: SiteParams,
    body: VerifyDomainRequest,
    example: { body: { by: 'file' } },
    response: dataOf(DomainVerification),
    errors: ['DOMAIN_NOT_VERIFIED', 'DNS_UNAVAILABLE', 'WRONG_STATE'],
    action: 'site.verify',
    prepare: async ({ params: { site_id: id }, body, gone }, deps) => {
      const { domain, challenges } = await challengeOfSite(deps.apiPool, id);
      const kind = body?.by ?? 'dns';
      if (kind === 'dns') await refuseUnlessInDns(challenges, deps);
      else await refuseUnlessOnPage(kind, { domain, challenges, gone }, deps);
      return async (_call, db) => {
        const { domain, proof, republished } = await verifySite(db, id, { kind, challenges });
        return {
          response: { data: shownChallenge(await challengeOfSite(db, id)) },
          subject: { kind: 'site', id },
          details: { domain, found: kind, proof, republished_configuration: republished },
        };
      };
    },
  }),
];

/** Settings whose values before and after a change are in the audit log. */
const SETTINGS = ['name', 'domain', 'allowed_origins', 'allowed_ips'] as const;

function shownChallenge(site: SiteChallenge): z.input<typeof DomainVerification> {
  const { dns, file, meta } = site.challenges;
  return {
    domain: site.domain,
    verified_at: site.verifiedAt?.toISOString() ?? null,
    proof: site.proof,
    proof_failing_since: site.failingSince?.toISOString() ?? null,
    dns_record: dns,
    file,
    meta_tag: meta.tag,
  };
}

/** @throws ApiError DOMAIN_NOT_VERIFIED, DNS_UNAVAILABLE */
async function refuseUnlessInDns({ dns }: DomainChallenges, { lookUpTxt }: PanelDeps): Promise<void> {
  if (await isChallengeMet(dns, lookUpTxt).catch(dnsFailure)) return;
  throw new ApiError(
    'DOMAIN_NOT_VERIFIED',
    `The DNS has no TXT record ${dns.name} that says ${dns.value}. A new record may take a while to be seen.`,
  );
}

/** Looks at pages of domains that a process makes for users at a time. Each can occupy a thread that looks names up. */
const MAX_PROOF_LOOKS = 4;
const RETRY_AFTER_SECONDS = 5;

interface PageLook extends Pick<SiteChallenge, 'domain' | 'challenges'> {
  readonly gone: AbortSignal;
}

/**
 * Looks at the page of a domain, for which the client waits.
 * @throws ApiError DOMAIN_NOT_VERIFIED; ChangeRefused `invalid` for a public suffix; RequestRefused
 *   SERVICE_UNAVAILABLE
 */
async function refuseUnlessOnPage(
  kind: PageProofKind,
  { domain, challenges, gone }: PageLook,
  { lookForProof, proofLooks }: PanelDeps,
): Promise<void> {
  refusePublicSuffix(domain);
  if (proofLooks.count >= MAX_PROOF_LOOKS) throw serviceUnavailable({ retryAfterSeconds: RETRY_AFTER_SECONDS });
  proofLooks.count += 1;
  try {
    const { outcome, message } = await lookForProof(kind, domain, challenges, gone);
    if (outcome !== 'found') throw new ApiError('DOMAIN_NOT_VERIFIED', message);
  } finally {
    proofLooks.count -= 1;
  }
}

function dnsFailure(error: unknown): never {
  if (error instanceof DnsUnavailable) throw new ApiError('DNS_UNAVAILABLE', error.message, { retryAfterSeconds: 10 });
  throw error;
}

const SiteRow = z.object({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  verified_at: z.date().nullable(),
  proof: Proof.nullable(),
  proof_failing_since: z.date().nullable(),
  allowed_origins: z.array(z.string()),
  allowed_ips: z.array(z.string()),
  ...RetentionRules.shape,
  created_at: z.date(),
  site_config_hash: z.string().nullable(),
  record: z.string().nullable(),
});

const SELECT = `
  select s.id, s.name, s.domain, s.verified_at, s.proof, s.proof_failing_since, s.allowed_origins,
         s.allowed_ips::text[] as allowed_ips, ${RETENTION_COLUMNS},
         s.created_at, s.site_config_hash, c.record
    from sites s left join site_configs c on c.sha256 = s.site_config_hash`;

/** A page of a tenant's sites, oldest first. @throws ApiError VALIDATION_ERROR */
async function siteList(db: Queryable, tenantId: string, page: PageRequest): Promise<Page<Site>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // Truncated to milliseconds, the precision of the cursor.
  const at = "date_trunc('milliseconds', s.created_at)";
  const { rows } = await db.query(
    `${SELECT} where s.tenant_id = $1 and ($2::timestamptz is null or (${at}, s.id) > ($2, $3::uuid))
      order by ${at}, s.id limit $4`,
    [tenantId, createdAt, id, page.limit + 1],
  );
  return pageOfRows(page, z.array(SiteRow).parse(rows), (row) => [row.created_at.toISOString(), row.id], shown);
}

/** One site of a tenant. @throws ChangeRefused `not_found` */
async function siteOf(db: Queryable, tenantId: string, siteId: string): Promise<Site> {
  const { rows } = await db.query(`${SELECT} where s.tenant_id = $1 and s.id = $2`, [tenantId, siteId]);
  const [row] = z.array(SiteRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return shown(row);
}

function shown({ site_config_hash: sha256, record, ...row }: z.infer<typeof SiteRow>): Site {
  return {
    ...row,
    verified_at: row.verified_at?.toISOString() ?? null,
    proof_failing_since: row.proof_failing_since?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    configuration: sha256 === null || record === null ? null : configurationOf(sha256, record),
  };
}

function configurationOf(sha256: string, text: string): Site['configuration'] {
  const record = parseSiteConfig(text);
  return {
    number: record.number,
    sha256,
    domain: record.domain,
    controller_legal_name: record.controller.legal_name,
    default_language: record.default_language,
    languages: record.languages,
    validity_days: record.validity_days,
  };
}
