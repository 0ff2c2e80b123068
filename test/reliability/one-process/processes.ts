import type pg from 'pg';
import { watchServer } from '../../../src/app/installation.js';
import { keepRunning } from '../../../src/app/prepare-installation.js';
import {
  assertAcceptedKept,
  createProcessMemory,
  noteAccepted,
  type ProcessMemory,
} from '../../../src/app/process-memory.js';
import { createErasureRunner, recordErasureRequest } from '../../../src/erasure/index.js';
import type { PreparedConsent } from '../../../src/pipeline/admission/prepare-consent.js';
import { createPromises } from '../../../src/pipeline/admission/promises.js';
import { createSubmitter, DEFAULT_GROUP_LIMITS, type Submitter } from '../../../src/pipeline/admission/submit.js';
import { LedgerRolledBack } from '../../../src/pipeline/ledger/errors.js';
import type { LedgerHead, LedgerHeadFile } from '../../../src/pipeline/ledger/head-file.js';
import { createLedgerGuard, guardLedgerAppends, type LedgerGuard } from '../../../src/pipeline/ledger/ledger-guard.js';
import { ledgerSignerOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { createRelay } from '../../../src/pipeline/relay/relay.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { createStamper } from '../../../src/pipeline/stamper/stamper.js';
import { BackOff, Looks, pause } from '../../../src/platform/background/waiting.js';
import { ServerChanged } from '../../../src/platform/database/errors.js';
import { createPool, type TransactionHooks } from '../../../src/platform/database/pool.js';
import { bindServer, type ServerBinding } from '../../../src/platform/database/server-binding.js';
import type { DatabaseRole } from '../../../src/platform/database/session.js';
import type { SigningKey } from '../../../src/platform/keys/signing-key.js';
import type { TimestampClient } from '../../../src/timestamping/client.js';
import { silent, testKeyring } from '../../pipeline/relay/pipeline.js';
import { ERASURE_KEYRING, type MemoryJournal, SEALING } from './erasing.js';
import type { MemoryLogServer } from './memory-log.js';
import type { Scheduler, SimulatedProcess } from './scheduler.js';
import { authoritiesOf, logOf } from './simulated-calls.js';

export const ORIGIN = 'ledger.example/simulated';
const URL = 'postgresql://simulated@127.0.0.1/simulated';

/** The parts of a history that every process reaches. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly log: MemoryLogServer;
  readonly authorities: TimestampClient;
  readonly quorum: number;
  readonly key: SigningKey;
  readonly headFile: LedgerHeadFile;
  /** Null: nothing is erased in this history. */
  readonly journal: MemoryJournal | null;
}

/** `ledger-head.json` in memory: it outlives the processes, and the database. */
export function memoryHeadFile(): LedgerHeadFile {
  let head: LedgerHead | null = null;
  return {
    path: 'ledger-head.json',
    read: async () => head,
    write: async (next) => {
      head = next;
    },
    replace: async (next) => {
      head = await next(head);
    },
  };
}

/** Work of a process on one database server. */
interface ServerRun {
  readonly server: ServerBinding;
  /** Rejects when an operator must act. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

function openPool(name: string, role: DatabaseRole, server: ServerBinding, transactions?: TransactionHooks): pg.Pool {
  return createPool({
    url: URL,
    role,
    applicationName: name,
    maxConnections: 12,
    statementTimeoutMs: 30_000,
    server,
    onIdleError: () => undefined,
    ...(transactions !== undefined && { transactions }),
  });
}

function watch(name: string, server: ServerBinding): () => Promise<void> {
  return watchServer({
    url: URL,
    server,
    role: 'consent_ledger_api',
    applicationName: name,
    statementTimeoutMs: 5_000,
  });
}

/**
 * Runs one life after the other, as `follow-server.ts` does: a life ends when another server answers, or
 * when the ledger does not continue what is known.
 * @returns why the process ended for good
 */
async function live(open: (memory: ProcessMemory) => Promise<ServerRun>): Promise<unknown> {
  const memory = createProcessMemory();
  const backOff = new BackOff();
  for (let isFirst = true; ; isFirst = false) {
    try {
      const life = await open(memory);
      const error = await Promise.race([life.ended, life.server.lost]).catch((failure: unknown) => failure);
      if (error instanceof Error) life.server.refuse(error);
      void life.stop();
      if (!(error instanceof ServerChanged || error instanceof LedgerRolledBack)) return error;
    } catch (error) {
      if (isFirst) return error;
    }
    await pause(backOff.next());
  }
}

/** Starts relay, sealer and stamper as `worker` does. @returns why it ended */
export function runWorker(process: SimulatedProcess, surroundings: Surroundings): Promise<unknown> {
  const { scheduler, headFile: file, key, quorum, journal } = surroundings;
  return live(async (memory) => {
    const server = bindServer();
    const db = openPool(process.name, 'consent_ledger_worker', server, journal === null ? undefined : SEALING);
    const unwatch = watch(process.name, server);
    const stop = new AbortController();
    const close = async (): Promise<void> => {
      stop.abort();
      await unwatch();
      await db.end();
    };
    try {
      const bareLog = logOf(surroundings.log, scheduler, process);
      const guard = createLedgerGuard({ db, file, memory, eventLog: bareLog, onRolledBack: server.refuse });
      const eventLog = guardLedgerAppends(bareLog, guard);
      await guard.check();
      const signer = ledgerSignerOf(key, ORIGIN, guard);
      const stamper = createStamper({
        rememberHead: () => guard.check(),
        db,
        eventLog,
        logger: silent,
        signer,
        client: authoritiesOf(surroundings.authorities, scheduler, process),
        quorum,
        trustAnchors: [],
        minIntervalMs: 2_000,
        pollMs: 2_000,
      });
      const parts = [
        createRelay({
          db,
          eventLog,
          keyring: testKeyring,
          logger: silent,
          retentionMs: 3_600_000,
          maxEvents: 4,
          pollMs: 1_000,
          checkPaceMs: 5_000,
        }),
        createSealer({
          db,
          eventLog,
          keyring: testKeyring,
          logger: silent,
          signer,
          limits: { maxLeaves: 3, maxAgeMs: 500 },
          pollMs: 1_000,
          rememberHead: () => guard.check(),
          onSealed: () => stamper.wake(),
        }),
        stamper,
        ...(journal === null
          ? []
          : [
              createErasureRunner({
                db,
                eventLog,
                keyring: ERASURE_KEYRING,
                logger: silent,
                journal: journal.of(process, scheduler),
                announceIntervalMs: 3_000,
                looks: new Looks(db, 2_000),
                applyEveryMs: 20_000,
              }),
            ]),
      ].map((part) => keepRunning(part, { logger: silent }));
      const ended = Promise.all(parts.map((part) => part.run(stop.signal)));
      ended.catch(() => undefined);
      return { server, ended, stop: close };
    } catch (error) {
      void close();
      throw error;
    }
  });
}

/** The site of a consent, as its backend knows it. */
export interface SimulatedSite {
  readonly siteId: string;
  readonly tenantId: string;
}

/** An answer with 202. */
export interface Accepted {
  readonly eventId: string;
  /** Server and time line that the process is bound to. */
  readonly server: string;
}

/** Admission of a process, as backends reach it. */
export interface Api {
  /**
   * Submits a consent.
   * @returns the event that was accepted, now or under the same key before
   * @throws Error for every other answer
   */
  submit(site: SimulatedSite, consent: PreparedConsent, idempotency: Buffer): Promise<Accepted>;
  /** Orders the erasure of a person. */
  erase(site: SimulatedSite, visitor: string, idempotencyKey: string): Promise<void>;
}

/** Opens admission as `api` does. @param onOpen receives it whenever a life begins @returns why it ended */
export function runApi(
  process: SimulatedProcess,
  { headFile: file, journal }: Surroundings,
  onOpen: (api: Api | null) => void,
): Promise<unknown> {
  return live(async (memory) => {
    onOpen(null);
    const server = bindServer();
    const db = openPool(process.name, 'consent_ledger_api', server, journal === null ? undefined : SEALING);
    const unwatch = watch(process.name, server);
    const close = async (): Promise<void> => {
      await unwatch();
      await db.end();
    };
    try {
      const guard: LedgerGuard = createLedgerGuard({ db, file, memory, eventLog: null, onRolledBack: server.refuse });
      await guard.compare();
      await assertAcceptedKept(db, memory);
      await guard.check();
      const submitter = createSubmitter({
        db,
        server,
        // No key signs promises here: consents are answered without them.
        promises: createPromises({
          origin: ORIGIN,
          sealWithinSeconds: 600,
          key: () => {
            throw new Error('the simulation signs no promises');
          },
        }),
        limits: DEFAULT_GROUP_LIMITS,
        onError: () => undefined,
        onUnsigned: () => undefined,
      });
      onOpen({
        submit: submissionOf(submitter, server, memory),
        erase: async ({ siteId }, value, idempotencyKey) => {
          const order = { siteId, by: { kind: 'visitor', value }, channel: 's2s', idempotencyKey } as const;
          await recordErasureRequest(db, ERASURE_KEYRING, order);
        },
      });
      return { server, ended: new Promise(() => undefined), stop: close };
    } catch (error) {
      void close();
      throw error;
    }
  });
}

function submissionOf(submitter: Submitter, server: ServerBinding, memory: ProcessMemory): Api['submit'] {
  return async ({ siteId, tenantId }, prepared, idempotency) => {
    const consent = { refusal: 'none', prepared, idempotency, bodyDigest: prepared.recordDigest } as const;
    const outcome = await submitter.submit({
      site: { siteId, tenantId, configRevision: 1 },
      nonce: null,
      isPublishable: false,
      consents: [consent],
    });
    const refusal = server.refusal();
    if (refusal !== null) throw refusal;
    const [answer] = outcome.consents;
    if (answer?.kind === 'accepted') {
      noteAccepted(memory, [prepared.eventId]);
      return { eventId: prepared.eventId, server: server.server() };
    }
    if (answer?.kind === 'duplicate') return { eventId: answer.original.eventId, server: server.server() };
    throw new Error(`the consent was not accepted: ${outcome.request}, ${answer?.kind}`);
  };
}
