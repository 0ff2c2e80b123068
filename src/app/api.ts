import type { Server } from 'node:net';
import { createMailQueue } from '../accounts/mail/mail-queue.js';
import { createAccessTokens, freshJwtKeys } from '../accounts/sign-in/access-tokens.js';
import { createPasswordCheck } from '../accounts/sign-in/check-password.js';
import { createUserDirectory } from '../accounts/users/user-directory.js';
import { createLoadGate } from '../api/guards/load-gate.js';
import { createRateLimiter, type RateLimiter } from '../api/guards/rate-limiter.js';
import { panelRoutes } from '../api/panel/routes.js';
import { createApp } from '../api/server/app.js';
import { failureOf } from '../api/server/request-log.js';
import { toolRoutes } from '../api/tool/routes.js';
import { makeReceipt } from '../evidence/package/index.js';
import { createVerifier } from '../evidence/verification/verifier.js';
import { createAdmission } from '../pipeline/admission/admission.js';
import { createCheckedClock } from '../pipeline/admission/checked-clock.js';
import { createOutboxGauge } from '../pipeline/admission/outbox-gauge.js';
import { certifiedPromiseKey } from '../pipeline/admission/promise-key.js';
import { createPromises } from '../pipeline/admission/promises.js';
import { DEFAULT_GROUP_LIMITS } from '../pipeline/admission/submit.js';
import { createWriteWatch } from '../pipeline/admission/write-watch.js';
import { createDetectRegion } from '../platform/regions/detect-region.js';
import { openGeoDatabase } from '../platform/regions/geo-database.js';
import { VERSION } from '../platform/version.js';
import { createKeyUsage, type KeyUsage } from '../tenancy/api-keys/key-usage.js';
import { createSiteDirectory } from '../tenancy/directory/site-directory.js';
import { createTxtLookUp } from '../tenancy/domains/txt-look-up.js';
import { createScanner } from '../tenancy/scans/scan-site.js';
import { accountCreator } from './create-account.js';
import type { Installation } from './installation.js';
import { listen, listenOn } from './listen.js';
import { createGroupObserver } from './metrics/group-observer.js';
import { metricsGroup, metricsGroupOf, observeApp } from './observe-app.js';
import { rememberAccepted } from './process-memory.js';
import { readinessOf } from './readiness.js';
import {
  clockSource,
  databaseSource,
  historySource,
  logSource,
  outboxSource,
  workerSource,
} from './readiness-sources.js';
import { serviceRoutes } from './service-routes.js';
import type { WorkerBeside } from './supervise-process.js';
import { readTsaRoots } from './timestamping.js';

const SWEEP_MS = 60_000;
/** Limit per user. */
const PANEL_REQUESTS_PER_MINUTE = 300;
const GAUGE_MS = 500;
const CLOCK_CHECK_MS = 5_000;
/** Interval of the comparison of the ledger with its head. */
const COMPARE_MS = 5_000;

/**
 * The HTTP part of the service. It has no essential state in memory: several processes may run it.
 */
export interface Api {
  /** Starts to listen. @returns the URL */
  listen(): Promise<string>;
  /** Prepares to listen. Call it before `listenOn`. */
  ready(): Promise<void>;
  /** Listens on the socket of another server, at once. */
  listenOn(server: Server): void;
  /** The server, which has a socket after `listen`. */
  readonly server: Server;
  /** Finishes the requests in progress, then stops. */
  stop(): Promise<void>;
}

export interface ApiOptions {
  /** The worker process beside it, whose state it shows; absent: another process runs one. */
  readonly worker?: WorkerBeside;
  /** The preparation of the installation by this process; absent: the worker beside it prepares. */
  readonly preparing?: Pick<WorkerBeside, 'reasons'>;
  /** Admission groups that this process may have in the database at a time; absent: as a process alone. */
  readonly groupsInFlight?: number;
  /** Returns the metrics of all processes for `GET /metrics`; absent: this process adds them up. */
  readonly metricsText?: () => Promise<string>;
}

/** Composes the HTTP application of an installation. */
export async function createApi(
  installation: Installation,
  { worker, preparing = worker, groupsInFlight = DEFAULT_GROUP_LIMITS.maxInFlight, metricsText }: ApiOptions = {},
): Promise<Api> {
  const { config, logger, apiPool: pool, keyring, guard, server, metrics, tracing } = installation;
  if (worker !== undefined) metrics.showBeside(worker);
  const directory = createSiteDirectory(pool, keyring);
  const rateLimiter = createRateLimiter({ db: pool, hashKey: await keyring.throttleKey() });
  const promiseOptions = { keyring, origin: config.ledgerOrigin, guard };
  const assertUsable = (): void => {
    const refusal = server.refusal();
    if (refusal !== null) throw refusal;
  };
  let promiseKey = await certifiedPromiseKey(promiseOptions);
  const outbox = createOutboxGauge({
    db: pool,
    limit: config.outbox.maxRows,
    everyMs: GAUGE_MS,
    monotonic: () => performance.now(),
  });
  const clock = createCheckedClock({
    db: pool,
    everyMs: CLOCK_CHECK_MS,
    now: Date.now,
    monotonic: () => performance.now(),
    onDifference: (ms) =>
      logger.error(
        { ahead_ms: ms },
        'nothing is admitted: the clock of this process differs from the clock of the database',
      ),
  });
  const writes = createWriteWatch({ db: pool, monotonic: () => performance.now() });
  const groups = createGroupObserver(metrics.admission, tracing);
  const admitted = createAdmission({
    db: pool,
    promises: createPromises({
      origin: config.ledgerOrigin,
      sealWithinSeconds: config.policy.sealWithinSeconds,
      key: () => {
        assertUsable();
        return promiseKey;
      },
    }),
    directory,
    seals: keyring,
    random: installation.random,
    clock,
    outbox,
    onError: (error) => logger.error({ reason: describe(error) }, 'an admission group failed'),
    onUnsigned: (error) =>
      logger.error({ reason: describe(error) }, 'consents were accepted without promises: signing them failed'),
    limits: { ...DEFAULT_GROUP_LIMITS, maxGroupConsents: config.admission.maxGroup, maxInFlight: groupsInFlight },
    observer: {
      ...groups,
      around: (submissions, send) => writes.around(() => groups.around(submissions, send)),
    },
  });
  const admission = rememberAccepted(admitted, installation);
  const jwtKeys = freshJwtKeys(keyring);
  const apiUsers = { tokens: createAccessTokens(jwtKeys), users: createUserDirectory(pool, keyring) };
  const queueMail = config.mail === undefined ? null : createMailQueue(keyring);
  const keyUsage = createKeyUsage(pool, Date.now);
  const verifier = createVerifier({
    db: pool,
    keyring,
    eventLog: installation.eventLog,
    onDamagedNodes: (batch) =>
      logger.error({ batch }, 'the stored tree nodes of a Merkle batch do not lead to its root; its leaves do'),
  });
  const scan = createScanner({ db: pool, directory, userAgent: `consent-ledger/${VERSION}`, ...config.scans });
  const app = createApp(
    {
      log: logger,
      trustedProxies: config.http.trustedProxies,
      scannerHost: config.http.scannerHost,
      ipv6ClientPrefix: config.limits.ipv6ClientPrefix,
      drain: {
        // The next application listens as soon as this one has closed.
        get lameDuckMs() {
          return server.refusal() === null ? config.http.lameDuckMs : 0;
        },
        graceMs: config.http.drainGraceMs,
      },
    },
    [
      ...serviceRoutes({
        db: pool,
        directory,
        rateLimiter,
        apiUsers,
        keyUsage,
        refreshKey: () => keyring.refreshKey(),
        queueMail,
        factorKeys: keyring,
        createAccount: config.isSignUpOpen ? accountCreator(installation.adminPool) : null,
        checkPassword: createPasswordCheck({ apiPool: pool, adminPool: installation.adminPool, seals: keyring }),
        verifier,
        receiptOf: (eventId) =>
          makeReceipt(
            { db: pool, eventLog: installation.eventLog, keyring, origin: config.ledgerOrigin },
            eventId,
            'none',
          ),
        readiness: readinessOf(installation, [
          historySource(installation),
          databaseSource(installation),
          writes,
          clockSource(clock),
          outboxSource(outbox),
          logSource(installation.eventLog),
          ...(preparing === undefined ? [] : [workerSource(preparing)]),
        ]),
        readTsaRoots: () => readTsaRoots(config),
        scannerHost: config.http.scannerHost,
        discovery: {
          ...config.discovery,
          scannerHost: config.http.scannerHost,
          jwtKeys,
          now: () => new Date(),
        },
        panel: {
          apiUsers,
          rateLimiter,
          limit: PANEL_REQUESTS_PER_MINUTE,
          apiPool: pool,
          adminPool: installation.adminPool,
          seals: keyring,
          routes: panelRoutes({
            apiPool: pool,
            config,
            keyring,
            eventLog: installation.eventLog,
            verifier,
            logger,
            lookUpTxt: createTxtLookUp(config.dnsServers),
            queueMail,
            directory,
            rateLimiter,
            scan,
          }),
        },
        limits: config.limits,
        clock: Date.now,
        gate: createLoadGate({
          maxInProgress: config.admission.maxInProgress,
          isFull: outbox.isFull,
          onRefused: () => metrics.admission.countRefusal('QUEUE_OVERLOADED'),
        }),
        toolRoutes: toolRoutes({
          db: pool,
          admission: metrics.admission.countConsents(admission),
          keyring,
          eventLog: installation.eventLog,
          origin: config.ledgerOrigin,
          verifier,
          detectRegion: createDetectRegion({
            ...config.geo,
            database: await openGeoDatabase(config.geo.databaseFile),
          }),
          rateLimiter,
          scan,
          logger,
          onExportError: (error, { id }) => {
            logger.error({ request_id: id, ...failureOf(error) }, 'a record export ended early');
          },
          now: () => performance.now(),
          batchBodyBytes: config.admission.batchBodyBytes,
          maxExportsPerTenant: config.exports.maxPerTenant,
          backupRetentionDays: config.backupRetentionDays ?? null,
        }),
      }),
      metricsText === undefined ? metricsGroup(installation, pool) : metricsGroupOf(installation, metricsText),
    ],
  );
  observeApp(app, installation);
  const stopSweeping = sweepRegularly(rateLimiter, keyUsage, installation);
  const stopComparing = every(COMPARE_MS, async () => {
    if (server.refusal() !== null) return;
    await guard.check().catch((error: unknown) => {
      logger.warn({ reason: describe(error) }, 'the ledger could not be compared with its head; trying again');
    });
  });
  const stopRenewing = every(SWEEP_MS, async () => {
    promiseKey = await certifiedPromiseKey(promiseOptions).catch((error: unknown) => {
      logger.warn(
        { reason: describe(error) },
        'the certificate of the promise key was not renewed; trying again later',
      );
      return promiseKey;
    });
  });
  return {
    listen: () => listen(app, config.http),
    ready: async () => {
      await app.ready();
    },
    listenOn: (server) => listenOn(app, server),
    server: app.server,
    stop: async () => {
      stopSweeping();
      stopRenewing();
      stopComparing();
      await app.close();
      await admission.drain();
      await writeKeyUsage(keyUsage, installation);
    },
  };
}

async function writeKeyUsage(keyUsage: KeyUsage, { logger }: Installation): Promise<void> {
  await keyUsage.flush().catch((error: unknown) => {
    logger.warn(
      { reason: describe(error) },
      'the times at which API keys were used could not be stored; trying again later',
    );
  });
}

/** Runs a task regularly. */
function every(ms: number, task: () => Promise<void>): () => void {
  const timer = setInterval(() => void task(), ms);
  timer.unref();
  return () => clearInterval(timer);
}

function sweepRegularly(rateLimiter: RateLimiter, keyUsage: KeyUsage, installation: Installation): () => void {
  const { logger } = installation;
  const timer = setInterval(() => {
    void writeKeyUsage(keyUsage, installation);
    rateLimiter.sweep().catch((error: unknown) => {
      logger.warn({ reason: describe(error) }, 'old rate limit windows could not be deleted; trying again later');
    });
  }, SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
