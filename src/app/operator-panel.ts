import { createMailQueue } from '../accounts/mail/mail-queue.js';
import { createRateLimiter } from '../api/guards/rate-limiter.js';
import { type PanelDeps, panelDeps } from '../api/panel/deps.js';
import { createVerifier } from '../evidence/verification/verifier.js';
import { VERSION } from '../platform/version.js';
import { createSiteDirectory } from '../tenancy/directory/site-directory.js';
import { createTxtLookUp } from '../tenancy/domains/verify-site.js';
import { createScanner } from '../tenancy/scans/scan-site.js';
import type { Installation } from './installation.js';
import { openLookForProof } from './look-for-proof.js';

/** Creates the panel's dependencies for operators on the command line. */
export async function operatorDeps(installation: Installation): Promise<PanelDeps> {
  const { apiPool, config, keyring, eventLog, logger, metrics } = installation;
  const directory = createSiteDirectory(apiPool, keyring);
  return panelDeps({
    apiPool,
    config,
    keyring,
    eventLog,
    verifier: createVerifier({
      db: apiPool,
      keyring,
      eventLog,
      onDamagedNodes: (batch) =>
        logger.error({ batch }, 'the stored tree nodes of a Merkle batch do not lead to its root'),
    }),
    logger,
    lookUpTxt: createTxtLookUp(config.dnsServers),
    lookForProof: openLookForProof(installation),
    queueMail: config.mail === undefined ? null : createMailQueue(keyring),
    directory,
    rateLimiter: createRateLimiter({ db: apiPool, hashKey: await keyring.throttleKey() }),
    scan: createScanner({
      db: apiPool,
      directory,
      logger,
      userAgent: `consent-ledger/${VERSION}`,
      ...config.scans,
      countFaults: metrics.countScanFaults,
    }),
  });
}
