import { ApiError } from '../../../../schemas/api/error-codes.js';
import { RetentionRules } from '../../../../schemas/api/panel/sites.js';
import {
  challengeOfSite,
  DnsUnavailable,
  isChallengeMet,
  type SiteChallenge,
  verifySite,
} from '../../../tenancy/domains/verify-site.js';
import { changeRetentionPeriod } from '../../../tenancy/sites/change-site.js';
import { changeSiteSettings, createSite } from '../../../tenancy/sites/sites.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, changesAfter, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { siteList, siteOf } from './show-sites.js';

/**
 * Sites of the caller's own tenant. A domain is proved by a TXT record in the DNS, which is looked
 * up outside the transaction.
 */
export function siteRoutes({ apiPool, lookUpTxt }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listSites, ({ user, query }) => siteList(apiPool, user.tenantId, query)),
    changes(operations.createSite, async ({ user, body }, db) => {
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
    }),
    reads(operations.readSite, async ({ user, params }) => ({
      data: await siteOf(apiPool, user.tenantId, params.site_id),
    })),
    changes(operations.changeSite, async ({ user, params, body }, db) => {
      const { changed, domain } = await changeSiteSettings(db, params.site_id, body);
      return {
        response: { data: await siteOf(db, user.tenantId, params.site_id) },
        subject: { kind: 'site', id: params.site_id },
        details: { changed: [...changed], ...(domain !== null && { domain }) },
      };
    }),
    changes(operations.changeRetentionPeriod, async ({ user, params, body }, db) => {
      const details = await changeRetentionPeriod(db, params.site_id, body);
      return {
        response: { data: await siteOf(db, user.tenantId, params.site_id) },
        subject: { kind: 'site', id: params.site_id },
        details,
      };
    }),
    reads(operations.readDomainVerification, async ({ params }) => ({
      data: shownChallenge(await challengeOfSite(apiPool, params.site_id)),
    })),
    changesAfter(
      operations.verifyDomain,
      async ({ params }) => {
        const { challenge } = await challengeOfSite(apiPool, params.site_id);
        if (await isChallengeMet(challenge, lookUpTxt).catch(dnsFailure)) return challenge;
        throw new ApiError(
          'DOMAIN_NOT_VERIFIED',
          `The DNS has no TXT record ${challenge.name} that says ${challenge.value}. A new record may take a while to be seen.`,
        );
      },
      async ({ params }, met, db) => {
        const { domain, republished } = await verifySite(db, params.site_id, met);
        return {
          response: { data: shownChallenge(await challengeOfSite(db, params.site_id)) },
          subject: { kind: 'site', id: params.site_id },
          details: { domain, republished_configuration: republished },
        };
      },
    ),
  ];
}

function shownChallenge({ domain, verifiedAt, challenge }: SiteChallenge) {
  return { domain, verified_at: verifiedAt?.toISOString() ?? null, dns_record: challenge };
}

function dnsFailure(error: unknown): never {
  if (error instanceof DnsUnavailable) throw new ApiError('DNS_UNAVAILABLE', error.message, { retryAfterSeconds: 10 });
  throw error;
}
