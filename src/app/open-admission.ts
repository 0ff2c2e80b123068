import { type Admission, createAdmission } from '../pipeline/admission/admission.js';
import { certifiedPromiseKey, createPromises } from '../pipeline/admission/promises.js';
import { DEFAULT_GROUP_LIMITS } from '../pipeline/admission/submit.js';
import { createTestAdmission, type TestAdmission } from '../pipeline/admission/test-admission.js';
import {
  createCheckedClock,
  createOutboxGauge,
  createWriteWatch,
  type OutboxGauge,
} from '../pipeline/admission/watches.js';
import { messageOf } from '../platform/errors.js';
import type { ReadinessSource } from '../platform/health.js';
import type { SiteDirectory } from '../tenancy/directory/site-context.js';
import type { Installation } from './installation.js';
import { createGroupObserver } from './metrics/admission-metrics.js';
import { rememberAccepted } from './process-memory.js';
import { clockSource, outboxSource } from './readiness.js';

const GAUGE_MS = 500;
const CLOCK_CHECK_MS = 5_000;

/** Admission, and what it depends on. */
export interface OpenedAdmission {
  readonly admission: Admission;
  /** The admission of test keys. What it accepts appears neither in metrics nor in the memory of the process. */
  readonly testAdmission: TestAdmission;
  readonly outbox: OutboxGauge;
  /** Whether it can accept consents. */
  readonly sources: readonly ReadinessSource[];
  /**
   * Renews the certificate of the key of promises. @throws as `certifiedPromiseKey`; the former certificate then stays
   * in use
   */
  readonly renewPromiseKey: () => Promise<void>;
}

/**
 * Opens the admission of an installation.
 * @param groupsInFlight number of groups that it may have in the database at a time
 */
export async function openAdmission(
  installation: Installation,
  directory: SiteDirectory,
  groupsInFlight: number = DEFAULT_GROUP_LIMITS.maxInFlight,
): Promise<OpenedAdmission> {
  const { config, logger, apiPool: db, keyring, guard, server, metrics, tracing } = installation;
  const origin = config.ledgerOrigin;
  const monotonic = (): number => performance.now();
  const newPromiseKey = () => certifiedPromiseKey({ keyring, origin, guard });
  let promiseKey = await newPromiseKey();
  const outbox = createOutboxGauge({ db, limit: config.outbox.maxRows, everyMs: GAUGE_MS, monotonic });
  const clock = createCheckedClock({
    db,
    everyMs: CLOCK_CHECK_MS,
    now: Date.now,
    monotonic,
    onDifference: (ms) =>
      logger.error(
        { ahead_ms: ms },
        'nothing is admitted: the clock of this process differs from the clock of the database',
      ),
  });
  const writes = createWriteWatch({ db, monotonic });
  const groups = createGroupObserver(metrics.admission, tracing);
  const surroundings = {
    db,
    directory,
    random: installation.random,
    clock,
    onError: (error: unknown) => logger.error({ reason: messageOf(error) }, 'an admission group failed'),
  };
  const admission = createAdmission({
    ...surroundings,
    server,
    promises: createPromises({
      origin,
      sealWithinSeconds: config.policy.sealWithinSeconds,
      key: () => {
        const refusal = server.refusal();
        if (refusal !== null) throw refusal;
        return promiseKey;
      },
    }),
    seals: keyring,
    outbox,
    onUnsigned: (error) =>
      logger.error({ reason: messageOf(error) }, 'consents were accepted without promises: signing them failed'),
    limits: { ...DEFAULT_GROUP_LIMITS, maxGroupConsents: config.admission.maxGroup, maxInFlight: groupsInFlight },
    observer: {
      ...groups,
      around: (submissions, send) => writes.around(() => groups.around(submissions, send)),
    },
  });
  return {
    admission: rememberAccepted(admission, installation),
    testAdmission: createTestAdmission({ ...surroundings, useNonce: admission.useNonce }),
    outbox,
    sources: [writes, clockSource(clock), outboxSource(outbox)],
    renewPromiseKey: async () => {
      promiseKey = await newPromiseKey();
    },
  };
}
