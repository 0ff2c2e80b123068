import { PROJECTIONS } from '../../projections/index.js';
import { keyLineOf } from '../../schemas/evidence/signed-note.js';
import { mailOwners } from '../accounts/mail/mail-owners.js';
import { causedBy, createMailQueue } from '../accounts/mail/mail-queue.js';
import { createMailer } from '../accounts/mail/mailer-part.js';
import { createSmtpTransport } from '../accounts/mail/smtp-transport.js';
import { mailRequestedReset } from '../accounts/sign-in/set-password.js';
import { pruneSignIns } from '../accounts/sign-in/sign-ins.js';
import { createErasureRunner, createRetention, openErasureJournal } from '../erasure/index.js';
import { createExporter } from '../evidence/exports/index.js';
import { ensureManifestCertificate, releasedVerifier } from '../evidence/package/index.js';
import { MAINTENANCE_INTERVAL_MS, maintainAdmission } from '../pipeline/admission/maintenance.js';
import { createYieldToAdmission } from '../pipeline/admission/yield-to-admission.js';
import { createCosigner } from '../pipeline/cosigner/cosigner.js';
import { shareReads } from '../pipeline/event-log/shared-reads.js';
import { guardLedgerAppends } from '../pipeline/ledger/ledger-guard.js';
import { openLedgerSigner } from '../pipeline/ledger/ledger-signer.js';
import { createProjector } from '../pipeline/projector/index.js';
import { createRelay, EVENT_WAITS } from '../pipeline/relay/relay.js';
import { createSealer, MAX_BATCH_LEAVES } from '../pipeline/sealer/sealer.js';
import { createStamper } from '../pipeline/stamper/stamper.js';
import { createWebhookSender } from '../pipeline/webhooks/http-sender.js';
import { createWebhooks } from '../pipeline/webhooks/webhooks-part.js';
import { type BackgroundPart, describe, type ServiceLogger } from '../platform/background/part.js';
import { sharedController } from '../platform/background/signals.js';
import { Looks, pause } from '../platform/background/waiting.js';
import { createTrustedClock } from '../platform/clock.js';
import type { MailConfig } from '../platform/config/index.js';
import type { Queryable } from '../platform/database/pool.js';
import { deferred } from '../platform/deferred.js';
import type { ReadinessReason } from '../platform/health.js';
import { VERSION } from '../platform/version.js';
import { createProofPart } from '../tenancy/domains/proof-part.js';
import { pruneDeliveries } from '../tenancy/webhooks/deliveries.js';
import { reportCaught } from './end-on-uncaught.js';
import type { Installation } from './installation.js';
import { publishLedgerKeyFile } from './ledger-files.js';
import { openLookForProof } from './look-for-proof.js';
import { keepRunning, whenLogAnswers } from './prepare-installation.js';
import { finishLedgerKeyRotation, openNextSigner } from './rotate-ledger-key.js';
import { observeAsking, openTimestamping } from './timestamping.js';

const HOUR_MS = 3_600_000;

/**
 * Everything that happens to a consent after admission, and the maintenance of the service. Any number of workers may
 * run, and each part works in one of them at a time.
 */
interface Worker {
  readonly parts: readonly BackgroundPart[];
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /**
   * Finishes the current steps, then stops. It may be called twice: for a lost database and for the end of the process.
   */
  stop(): Promise<void>;
}

/** Starts every background part. */
async function startWorker(installation: Installation): Promise<Worker> {
  const { config, logger, workerPool: pool, projectionsPool, keyring, guard, metrics, tracing } = installation;
  const eventLog = guardLedgerAppends(installation.eventLog, guard);
  const origin = config.ledgerOrigin;
  await finishLedgerKeyRotation({ db: pool, eventLog, keyring, origin, guard });
  const signer = await openLedgerSigner({ keyring, origin, guard });
  const timestamping = await openTimestamping(config, observeAsking(installation));
  await publishLedgerKeyFile(config, signer);
  await ensureManifestCertificate({ db: pool, keyring, signer });
  const trustedClock = createTrustedClock({ db: pool, logger });
  // The projections and the sealer read the same events at about the same time.
  const sharedLog = shareReads(eventLog);
  const stamper = createStamper({
    appends: sharedLog,
    trustedClock,
    rememberHead: () => guard.check(),
    db: pool,
    eventLog,
    logger,
    signer,
    openNext: () => openNextSigner({ keyring, origin, guard }),
    client: timestamping.client,
    quorum: timestamping.quorum,
    trustAnchors: timestamping.trustAnchors,
    minIntervalMs: config.stampIntervalMs,
    tracing,
  });
  const looks = new Looks(pool);
  const parts: readonly BackgroundPart[] = [
    createRelay({
      db: pool,
      eventLog,
      keyring,
      logger,
      tracing,
      retentionMs: config.outbox.retentionHours * HOUR_MS,
      look: looks.add(EVENT_WAITS),
    }),
    createProjector({ db: projectionsPool, eventLog: sharedLog, logger, projections: PROJECTIONS, tracing }),
    createSealer({
      db: pool,
      eventLog: sharedLog,
      appends: sharedLog,
      keyring,
      logger,
      signer,
      limits: { maxLeaves: Math.min(config.batch.maxEvents, MAX_BATCH_LEAVES), maxAgeMs: config.batch.maxAgeMs },
      policy: {
        ...config.policy,
        stamps: timestamping.quorum,
        witnesses: config.witnesses.flatMap(({ keys }) => keys.slice(0, 1).map(keyLineOf)),
      },
      trustedClock,
      rememberHead: () => guard.check(),
      onSealed: () => stamper.wake(),
      tracing,
    }),
    stamper,
    ...(config.witnesses.length === 0
      ? []
      : [createCosigner({ db: pool, logger, witnesses: config.witnesses, tracing })]),
    createErasureRunner({
      looks,
      db: pool,
      eventLog,
      keyring,
      logger,
      journal: openErasureJournal(config.erasureJournal),
      announceIntervalMs: config.erasureAnnounceIntervalMs,
    }),
    createRetention({
      db: pool,
      keyring,
      logger,
      clock: trustedClock,
      journal: openErasureJournal(config.erasureJournal),
    }),
    createExporter({
      looks,
      db: pool,
      eventLog,
      keyring,
      logger,
      origin,
      verifier: await releasedVerifier(config.discovery.publicUrl, VERSION),
      tracing,
      yieldToAdmission: createYieldToAdmission({ db: pool }),
      maxBytes: config.exports.maxBytes,
      retentionMs: config.exports.retentionHours * HOUR_MS,
    }),
    createWebhooks({
      looks,
      db: pool,
      eventLog,
      keyring,
      logger,
      send: createWebhookSender({
        allowedNetworks: config.webhookNetworks,
        userAgent: `consent-ledger/${VERSION}`,
        onCaught: reportCaught({ logger, metrics }, 'webhook'),
      }),
    }),
    openProofPart(installation),
    ...(config.mail === undefined ? [] : [openMailer(installation, config.mail)]),
    createMaintenance({ db: pool, logger }),
  ];
  metrics.showParts(parts);
  const stopping = sharedController();
  const kept = parts.map((part) => keepRunning(part, { logger }));
  const running = kept.map((part) => part.run(stopping.signal));
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.allSettled(running);
    await timestamping.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    parts: kept,
    ended: Promise.all(running).then(() => undefined),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Composes the part that looks again at the pages that prove domains. */
function openProofPart(installation: Installation): BackgroundPart {
  const { adminPool, workerPool, keyring, logger, config } = installation;
  const mails = config.mail === undefined ? null : { seals: keyring, queueMail: createMailQueue(keyring) };
  return createProofPart({
    db: adminPool,
    leasePool: workerPool,
    seals: keyring,
    logger,
    lookForProof: openLookForProof(installation),
    warn: async (db, { tenantId, domain, warning, failingSince, lapsesAt }) => {
      if (mails === null) return;
      const [since, lapses_at] = [failingSince.toISOString(), lapsesAt.toISOString()];
      await mailOwners(db, mails, tenantId, (to) => ({ kind: 'domain_proof', to, warning, domain, since, lapses_at }));
    },
  });
}

/** Composes the part that sends mails to users. */
function openMailer({ adminPool, keyring, logger }: Installation, mail: MailConfig): BackgroundPart {
  const queueMail = createMailQueue(keyring);
  return createMailer({
    db: adminPool,
    looks: new Looks(adminPool),
    keys: keyring,
    openTransport: () => createSmtpTransport(mail),
    publicUrl: mail.publicUrl,
    onResetRequest: (db, email, cause) => mailRequestedReset(db, keyring, causedBy(queueMail, cause), email),
    logger,
  });
}

export interface MaintenanceOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly logger: ServiceLogger;
  readonly everyMs?: number;
}

/**
 * Regularly runs the maintenance of admission, sign-ins and deliveries. Any number of processes may run it; after a
 * failure, the next interval tries again.
 */
export function createMaintenance({
  db,
  logger,
  everyMs = MAINTENANCE_INTERVAL_MS,
}: MaintenanceOptions): BackgroundPart {
  let runs = 0;
  let failures = 0;
  return {
    name: 'maintenance',
    status: () => ({ runs, failures }),
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await maintainAdmission(db);
          await pruneSignIns(db);
          await pruneDeliveries(db);
          runs += 1;
        } catch (error) {
          failures += 1;
          logger.warn({ part: 'maintenance', reason: describe(error) }, 'failed; trying again');
        }
        await pause(everyMs, signal);
      }
    },
  };
}

/** The parts of a worker, which run or wait. */
export interface RunningWorker {
  /** Resolves when the parts run, or when they only wait for what they need. Rejects like `ended`. */
  readonly begun: Promise<void>;
  /** Resolves when the parts run for the first time, or with `stopped` if they never did. Rejects like `ended`. */
  readonly prepared: Promise<'running' | 'stopped'>;
  /** Returns why the parts do not do all their work. */
  reasons(): readonly ReadinessReason[];
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Finishes the current steps; waits end immediately. */
  stop(): Promise<void>;
}

/**
 * Runs every background part, as soon as the event log answers. The promises of the result reject with
 * errors of keys, event log and authorities, each with a message for the operator.
 * @param onWaiting a function that is called when the parts cannot run yet, and run later
 */
export function runWorker(installation: Installation, onWaiting: () => void = () => undefined): RunningWorker {
  const stopping = new AbortController();
  let worker: Worker | null = null;
  let waitsFor: readonly ReadinessReason[] = [];
  const waits = deferred();
  const wait = {
    seals: true,
    signal: stopping.signal,
    onWaiting: (reasons: readonly ReadinessReason[]) => {
      waitsFor = reasons;
      onWaiting();
      waits.resolve();
    },
  };
  const opened = whenLogAnswers(installation, wait, () => startWorker(installation)).then((started) => {
    worker = started;
    return started;
  });
  const running: RunningWorker = {
    begun: Promise.race([opened, waits.promise]).then(() => undefined),
    prepared: opened.then((started) => (started === null ? 'stopped' : 'running')),
    ended: opened.then((started) => started?.ended),
    reasons: () => worker?.parts.flatMap((part) => part.reasons?.() ?? []) ?? waitsFor,
    stop: async () => {
      stopping.abort();
      await opened.catch(() => undefined);
      await worker?.stop();
    },
  };
  // The caller awaits some of these promises. A rejection of the others must not end the program.
  for (const promise of [running.begun, running.prepared, running.ended]) promise.catch(() => undefined);
  return running;
}
