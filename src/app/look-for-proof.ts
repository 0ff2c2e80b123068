import { VERSION } from '../platform/version.js';
import { createFetchPage } from '../tenancy/domains/fetch-page.js';
import { createLookForProof, type LookForProof } from '../tenancy/domains/page-proof.js';
import { createWebhookTargets } from '../tenancy/webhooks/webhook-targets.js';
import { reportCaught } from './end-on-uncaught.js';
import type { Installation } from './installation.js';

/** Composes the look at pages that prove a domain. It reaches the addresses that webhooks may reach. */
export function openLookForProof({ config, logger, metrics }: Installation): LookForProof {
  const { lookupOf } = createWebhookTargets(config.webhookNetworks);
  return createLookForProof(
    createFetchPage({
      lookupOf,
      userAgent: `consent-ledger/${VERSION}`,
      onCaught: reportCaught({ logger, metrics }, 'domain_proof'),
    }),
  );
}
