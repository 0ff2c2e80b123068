import type { Server } from 'node:net';
import { createRateLimiter } from '../api/guards/rate-limiter.js';
import { createApp } from '../api/server/app.js';
import { messageOf } from '../platform/errors.js';
import { createKeyUsage } from '../tenancy/api-keys/key-usage.js';
import { createSiteDirectory } from '../tenancy/directory/site-directory.js';
import { createLiveHosts } from '../tenancy/domains/live-hosts.js';
import type { Installation } from './installation.js';
import { listen, listenOn, metricsGroup, metricsGroupOf, observeApp } from './listen.js';
import { openAdmission } from './open-admission.js';
import {
  authoritySource,
  databaseSource,
  historySource,
  logSource,
  promisesSource,
  readinessOf,
  workerSource,
} from './readiness.js';
import { serviceRoutes } from './service-routes.js';
import type { WorkerBeside } from './supervise-process.js';

const SWEEP_MS = 60_000;
/** Interval in milliseconds at which the ledger is compared with its head. */
const COMPARE_MS = 5_000;

/**
 * The HTTP part of the service. It has no essential state in memory: several processes may run it.
 */
export interface Api {
  /** Starts to listen. @returns the URL */
  listen(): Promise<string>;
  /** Prepares to listen. Call it before `listenOn`. */
  ready(): Promise<void>;
  /** Listens on the socket of another server, immediately. */
  listenOn(server: Server): void;
  /** The server, which has a socket after `listen`. */
  readonly server: Server;
  /** Finishes the requests in progress, then stops. */
  stop(): Promise<void>;
}

export interface ApiOptions {
  /** The worker process that this process runs and whose state it reports. Absent if another process runs one. */
  readonly worker?: WorkerBeside;
  /** The preparation of the installation by this process. Absent if its worker prepares it. */
  readonly preparing?: Pick<WorkerBeside, 'reasons'>;
  /**
   * Number of admission groups that this process may have in the database at a time. If absent, the process uses the
   * number for a single process.
   */
  readonly groupsInFlight?: number;
  /** How often this process was restarted. Absent if another process reports it. */
  readonly restarts?: number;
  /** Returns the metrics of all processes for `GET /metrics`. Absent if this process adds them up. */
  readonly metricsText?: () => Promise<string>;
}

/** Composes the HTTP application of an installation. */
export async function createApi(
  installation: Installation,
  { worker, preparing = worker, groupsInFlight, restarts, metricsText }: ApiOptions = {},
): Promise<Api> {
  const { config, logger, apiPool: pool, keyring, guard, server, metrics } = installation;
  if (worker !== undefined) metrics.showBeside(worker);
  if (restarts !== undefined) metrics.showApiRestarts(restarts);
  const directory = createSiteDirectory(pool, keyring);
  const rateLimiter = createRateLimiter({ db: pool, hashKey: await keyring.throttleKey() });
  const keyUsage = createKeyUsage(pool, Date.now);
  const liveHosts = createLiveHosts(installation.apiPool);
  const opened = await openAdmission(installation, directory, groupsInFlight);
  const { admission, testAdmission, outbox, renewPromiseKey, sources } = opened;
  const readiness = readinessOf(installation, [
    historySource(installation),
    databaseSource(installation),
    ...sources,
    logSource(installation.eventLog),
    promisesSource(installation),
    authoritySource(installation),
    ...(preparing === undefined ? [] : [workerSource(preparing)]),
  ]);
  const app = createApp(
    {
      log: logger,
      trustedProxies: config.http.trustedProxies,
      scannerHost: config.http.scannerHost,
      ipv6ClientPrefix: config.limits.ipv6ClientPrefix,
      drain: {
        // Once the server is refused, no time: the next application can listen as soon as this one has closed.
        lameDuckMs: () => (server.refusal() === null ? config.http.lameDuckMs : 0),
        graceMs: config.http.drainGraceMs,
      },
    },
    [
      ...(await serviceRoutes(installation, {
        admission,
        testAdmission,
        outbox,
        directory,
        rateLimiter,
        keyUsage,
        liveHosts,
        readiness,
      })),
      metricsText === undefined ? metricsGroup(installation, pool) : metricsGroupOf(installation, metricsText),
    ],
  );
  observeApp(app, installation);

  const trying = async (task: () => Promise<unknown>, failed: string): Promise<void> => {
    await task().catch((error: unknown) => logger.warn({ reason: messageOf(error) }, failed));
  };
  const storeKeyUsage = (): Promise<void> =>
    trying(() => keyUsage.flush(), 'the times at which API keys were used could not be stored; trying again later');
  const storeHosts = (): Promise<void> =>
    trying(() => liveHosts.flush(), 'the hosts of pages could not be stored; they are noted again by the next consent');
  const compare = async (): Promise<void> => {
    if (server.refusal() === null) await guard.check();
  };
  const timers = [
    setInterval(() => void trying(compare, 'the ledger could not be compared with its head; trying again'), COMPARE_MS),
    setInterval(() => {
      void storeKeyUsage();
      void storeHosts();
      void trying(() => rateLimiter.sweep(), 'old rate limit windows could not be deleted; trying again later');
      void trying(renewPromiseKey, 'the certificate of the promise key was not renewed; trying again later');
    }, SWEEP_MS),
  ];
  for (const timer of timers) timer.unref();
  return {
    listen: () => listen(app, config.http),
    ready: async () => {
      await app.ready();
    },
    listenOn: (server) => listenOn(app, server),
    server: app.server,
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await app.close();
      await admission.drain();
      await Promise.all([storeKeyUsage(), storeHosts()]);
    },
  };
}
