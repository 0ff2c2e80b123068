import { PROJECTIONS } from '../../projections/index.js';
import { keyLineOf } from '../../schemas/evidence/signed-note.js';
import { createErasureRunner, createRetention, openErasureJournal } from '../erasure/index.js';
import { createExporter } from '../evidence/exports/index.js';
import { ensureManifestCertificate, releasedVerifier } from '../evidence/package/index.js';
import { createGiveWay } from '../pipeline/admission/give-way.js';
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
import type { BackgroundPart } from '../platform/background/part.js';
import { sharedController } from '../platform/background/signals.js';
import { Looks } from '../platform/background/waiting.js';
import { createTrustedClock } from '../platform/clock.js';
import { VERSION } from '../platform/version.js';
import type { Installation } from './installation.js';
import { keepRunning } from './keep-running.js';
import { publishLedgerKeyFile } from './ledger-key-file.js';
import { createMaintenance } from './maintenance-part.js';
import { openMailer } from './open-mailer.js';
import { reportCaught } from './report-caught.js';
import { finishLedgerKeyRotation, openNextSigner } from './rotate-ledger-key.js';
import { observeAsking, openTimestamping } from './timestamping.js';

const HOUR_MS = 3_600_000;

/**
 * Everything that happens to a consent after admission, and the maintenance of the service. Any number of
 * workers may run; each part works in one of them.
 */
export interface Worker {
  readonly parts: readonly BackgroundPart[];
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Finishes the current steps, then stops. A lost database and the end of the process may both ask for it. */
  stop(): Promise<void>;
}

/** Starts every background part. */
export async function startWorker(installation: Installation): Promise<Worker> {
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
      ...{ db: pool, eventLog, keyring, logger, tracing },
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
      giveWay: createGiveWay({ db: pool }),
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
