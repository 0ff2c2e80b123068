import type pg from 'pg';
import type { QueueMail } from '../../accounts/mail/mail-queue.js';
import type { Verifier } from '../../evidence/verification/verifier.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import type { Config } from '../../platform/config/index.js';
import type { Keyring } from '../../platform/keys/index.js';
import { type FindVendorList, vendorListsIn } from '../../tenancy/configuration/vendor-lists.js';
import type { SiteDirectory } from '../../tenancy/directory/site-context.js';
import type { LookForProof } from '../../tenancy/domains/page-proof.js';
import type { LookUpTxt } from '../../tenancy/domains/verify-site.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import { createWebhookTargets, type WebhookTargets } from '../../tenancy/webhooks/webhook-targets.js';
import { FairScheduler } from '../guards/fair-scheduler.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { routesWith } from '../server/route.js';

/** What the panel's handlers need from the process. */
export interface PanelOptions {
  /** Reads: connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  readonly config: Config;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  readonly verifier: Verifier;
  readonly logger: ServiceLogger;
  readonly lookUpTxt: LookUpTxt;
  readonly lookForProof: LookForProof;
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly scan: ScanPage;
  /** Null if the service sends no mail. */
  readonly queueMail: QueueMail | null;
}

/** Dependencies of the panel's handlers. */
export interface PanelDeps extends PanelOptions {
  /** Schedules searches of consents by tenant. */
  readonly searches: FairScheduler;
  readonly findVendorList: FindVendorList;
  readonly webhookTargets: WebhookTargets;
  /** Looks at pages of domains that are in progress. */
  readonly proofLooks: { count: number };
}

/** The builder of the panel's operations. */
export const route = routesWith<PanelDeps>();

/** Searches that may wait, in all and per tenant. */
const MAX_WAITING_SEARCHES = 100;
const MAX_OF_TENANT = 20;
/** Time after a search before its tenant may start the next one, as a multiple of its duration. */
const PAUSE = 2;

export function panelDeps(options: PanelOptions): PanelDeps {
  const { config } = options;
  return {
    ...options,
    searches: new FairScheduler({
      // Half of the pool stays free for every other request.
      slots: Math.max(1, Math.floor(config.database.poolSize / 2)),
      now: () => performance.now(),
      pause: PAUSE,
      maxWaiting: MAX_WAITING_SEARCHES,
      maxOfOwner: MAX_OF_TENANT,
    }),
    findVendorList: vendorListsIn(config.vendorListFolder),
    webhookTargets: createWebhookTargets(config.webhookNetworks),
    proofLooks: { count: 0 },
  };
}
