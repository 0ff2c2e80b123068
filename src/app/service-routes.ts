import type pg from 'pg';
import { hashPassword } from '../accounts/credentials/credentials.js';
import { createMailQueue } from '../accounts/mail/mail-queue.js';
import { relyingPartyOf } from '../accounts/passkeys/relying-party.js';
import { createAccessTokens, freshJwtKeys } from '../accounts/sign-in/access-tokens.js';
import { createPasswordCheck } from '../accounts/sign-in/check-password.js';
import { startSignIn } from '../accounts/sign-in/sign-ins.js';
import type { WantedAccount } from '../accounts/sign-up/request-sign-up.js';
import { createUserDirectory } from '../accounts/users/user-directory.js';
import { insertUser } from '../accounts/users/users.js';
import type { CreateAccount } from '../api/auth/deps.js';
import { networkTurns } from '../api/auth/deps.js';
import { PASSKEY_OPERATIONS } from '../api/auth/passkeys.js';
import { SECOND_FACTOR_OPERATIONS } from '../api/auth/second-factor.js';
import { serveAuth } from '../api/auth/serve-auth.js';
import { AUTH_OPERATIONS } from '../api/auth/sign-in.js';
import { SIGN_UP_OPERATIONS } from '../api/auth/sign-up.js';
import { checkpointRoutes } from '../api/checkpoints/checkpoints.js';
import { ledgerTurns } from '../api/checkpoints/serve-documents.js';
import { structureRoutes } from '../api/checkpoints/structure.js';
import { discoveryRoutes } from '../api/discovery/discovery-routes.js';
import { createLoadGate } from '../api/guards/load-gate.js';
import type { RateLimiter } from '../api/guards/rate-limiter.js';
import { createScannerGuard } from '../api/guards/scanner-guard.js';
import { createToolGuards } from '../api/guards/tool-guard.js';
import { panelDeps } from '../api/panel/deps.js';
import { PANEL_OPERATIONS } from '../api/panel/operations.js';
import { servePanel } from '../api/panel/serve-panel.js';
import { browserSdk } from '../api/public/browser-sdk.js';
import { dashboard } from '../api/public/dashboard.js';
import { servePublic } from '../api/public/public-verify.js';
import { tryPage } from '../api/public/try-page.js';
import { verifyPage } from '../api/public/verify-page.js';
import { allowCrossOrigin, type RouteGroup } from '../api/server/app.js';
import { CacheableJson } from '../api/server/cacheable-json.js';
import { healthRoutes } from '../api/server/health.js';
import { paceLargeTexts } from '../api/server/pace-large-texts.js';
import { failureOf } from '../api/server/request-log.js';
import { TOOL_OPERATIONS, toolTurns } from '../api/tool/operations.js';
import { withBatchBodies } from '../api/tool/recording.js';
import { serveTool } from '../api/tool/serve-tool.js';
import { makeReceipt } from '../evidence/package/index.js';
import { createVerifier } from '../evidence/verification/verifier.js';
import { appendAuditEntry } from '../platform/audit-log.js';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { ChangeRefused } from '../platform/errors.js';
import type { Readiness } from '../platform/health.js';
import { createDetectRegion } from '../platform/jurisdiction/detect-region.js';
import { openGeoDatabase } from '../platform/jurisdiction/geo-database.js';
import { isLoopback } from '../platform/net/reach.js';
import { VERSION } from '../platform/version.js';
import type { KeyUsage } from '../tenancy/api-keys/key-usage.js';
import { vendorListsIn } from '../tenancy/configuration/vendor-lists.js';
import type { SiteDirectory } from '../tenancy/directory/site-context.js';
import type { LiveHosts } from '../tenancy/domains/live-hosts.js';
import { createTxtLookUp } from '../tenancy/domains/verify-site.js';
import { createScanner } from '../tenancy/scans/scan-site.js';
import { createTenant, PLANS } from '../tenancy/tenants/tenants.js';
import type { Installation } from './installation.js';
import { openLookForProof } from './look-for-proof.js';
import type { OpenedAdmission } from './open-admission.js';
import { readTsaRoots } from './timestamping.js';

/** Limit per user. */
const PANEL_REQUESTS_PER_MINUTE = 300;

/** Parts of the process that the routes share with its other work. */
export interface ServiceParts extends Pick<OpenedAdmission, 'admission' | 'testAdmission' | 'outbox'> {
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly keyUsage: KeyUsage;
  readonly liveHosts: LiveHosts;
  readonly readiness: Readiness;
}

/** All routes of the service, in groups. */
export async function serviceRoutes(installation: Installation, parts: ServiceParts): Promise<readonly RouteGroup[]> {
  const { config, logger, apiPool, adminPool, keyring, eventLog, metrics } = installation;
  const { directory, rateLimiter, keyUsage, outbox } = parts;
  const { scannerHost } = config.http;
  const origin = config.ledgerOrigin;
  const now = (): number => performance.now();
  const jwtKeys = freshJwtKeys(keyring);
  const apiUsers = { tokens: createAccessTokens(jwtKeys), users: createUserDirectory(apiPool, keyring) };
  const verifier = createVerifier({
    db: apiPool,
    keyring,
    eventLog,
    onDamagedNodes: (batch) =>
      logger.error({ batch }, 'the stored tree nodes of a Merkle batch do not lead to its root; its leaves do'),
  });
  const shared = {
    apiPool,
    adminPool,
    keyring,
    seals: keyring,
    eventLog,
    verifier,
    logger,
    directory,
    rateLimiter,
    apiUsers,
    queueMail: config.mail === undefined ? null : createMailQueue(keyring),
    scan: createScanner({
      db: apiPool,
      directory,
      logger,
      userAgent: `consent-ledger/${VERSION}`,
      ...config.scans,
      countFaults: metrics.countScanFaults,
    }),
  };
  const tool = {
    deps: {
      ...shared,
      ...toolTurns(now),
      db: apiPool,
      origin,
      keyUsage,
      admission: metrics.admission.countConsents(parts.admission),
      testAdmission: parts.testAdmission,
      liveHosts: parts.liveHosts,
      texts: new CacheableJson(),
      detectRegion: createDetectRegion({ ...config.geo, database: await openGeoDatabase(config.geo.databaseFile) }),
      onExportError: (error: unknown, { id }: { readonly id: string }) => {
        logger.error({ request_id: id, ...failureOf(error) }, 'a record export ended early');
      },
      maxPerTenant: config.exports.maxPerTenant,
      backupRetentionDays: config.backupRetentionDays ?? null,
    },
    routes: withBatchBodies(TOOL_OPERATIONS, config.admission.batchBodyBytes),
    serving: {
      guards: createToolGuards({ ...shared, keyUsage, invalidKeyLimit: config.limits.invalidKeys }),
      scanner: scannerHost === undefined ? null : createScannerGuard({ host: scannerHost, directory, rateLimiter }),
      gate: createLoadGate({
        maxInProgress: config.admission.maxInProgress,
        isFull: outbox.isFull,
        onRefused: () => metrics.admission.countRefusal('QUEUE_OVERLOADED'),
      }),
      clock: Date.now,
    },
  };
  const receipts = { db: apiPool, eventLog, keyring, origin };
  const publicVerify = {
    verifier,
    rateLimiter,
    now,
    receiptOf: (eventId: string) => makeReceipt(receipts, eventId, 'none'),
    limit: config.limits.publicVerify,
  };
  const panel = panelDeps({
    ...shared,
    config,
    lookUpTxt: createTxtLookUp(config.dnsServers),
    lookForProof: openLookForProof(installation),
  });
  const auth = {
    ...shared,
    ...apiUsers,
    turns: networkTurns(now),
    checkPassword: createPasswordCheck(shared),
    refreshKey: () => keyring.refreshKey(),
    factorKeys: keyring,
    relyingParty: relyingPartyOf(config.discovery.publicUrl),
    createAccount: config.isSignUpOpen ? accountCreator(adminPool) : null,
  };
  const authRoutes = [...AUTH_OPERATIONS, ...SECOND_FACTOR_OPERATIONS, ...PASSKEY_OPERATIONS, ...SIGN_UP_OPERATIONS];
  const turns = ledgerTurns(now);
  const { isSignUpOpen } = config;
  const discovery = { ...config.discovery, isSignUpOpen, scannerHost, jwtKeys, now: () => new Date() };
  return [
    (scope) => healthRoutes(scope, { readiness: parts.readiness, serving: 'callers' }),
    forEveryOrigin('/tool/v1', (scope) => serveTool(scope, tool.routes, tool.deps, tool.serving)),
    forEveryOrigin('/api/v1/public', (scope) => servePublic(scope, publicVerify)),
    (scope) => servePanel(scope, PANEL_OPERATIONS, { ...shared, ...panel, limit: PANEL_REQUESTS_PER_MINUTE }),
    (scope) => serveAuth(scope, authRoutes, auth),
    (scope) => checkpointRoutes(scope, apiPool, () => readTsaRoots(config), turns),
    (scope) => structureRoutes(scope, apiPool, { auditors: config.structureAuditors, turns, now }),
    (scope) => {
      paceLargeTexts(scope, now);
      discoveryRoutes(scope, discovery);
      verifyPage(scope);
      browserSdk(scope, vendorListsIn(config.vendorListFolder));
      dashboard(scope);
      if (config.database.url === undefined && isLoopback(config.http.host)) tryPage(scope, config.dataDir);
    },
  ];
}

/** Routes under a path that pages of every origin may call. */
function forEveryOrigin(prefix: string, serve: RouteGroup): RouteGroup {
  return async (scope) => {
    await scope.register(
      async (inner) => {
        allowCrossOrigin(inner);
        await serve(inner);
      },
      { prefix },
    );
  };
}

/**
 * Creates the tenant and the owner of a sign-up, with the standard plan, and signs the owner in.
 * @param adminPool a pool in the role `consent_ledger_admin`
 */
function accountCreator(adminPool: pg.Pool): CreateAccount {
  return async (wanted, password) => {
    const passwordHash = await hashPassword(password);
    try {
      return await withTransaction(adminPool, (db) => create(db, wanted, passwordHash));
    } catch (error) {
      if (error instanceof ChangeRefused && error.code === 'already_exists') return null;
      throw error;
    }
  };
}

async function create(db: Queryable, { organisation, email }: WantedAccount, passwordHash: string) {
  const { id: tenantId } = await createTenant(db, organisation, PLANS.standard);
  const role = 'owner' as const;
  const { id } = await insertUser(db, { tenantId, email, role }, passwordHash);
  const user = { id, tenantId, email, role };
  await appendAuditEntry(db, {
    tenantId,
    actor: { kind: 'user', userId: id },
    action: 'tenant.sign_up',
    subject: { kind: 'tenant', id: tenantId },
    details: { plan: PLANS.standard.name },
  });
  const started = await startSignIn(db, user, passwordHash, null);
  if (started === null) throw new Error('a user who was just made cannot sign in');
  return { user: { ...user, signInId: started.signInId }, refreshToken: started.refreshToken };
}
