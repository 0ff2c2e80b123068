import type { ServiceLogger } from '../../platform/background/part.js';
import { abortOf } from '../../platform/background/signals.js';
import { PROCESS_LIMITS, PROOF_MS } from './limits.js';
import {
  endedUnexpectedly,
  NOT_IN_TIME,
  removeLeftFolders,
  runScanProcess,
  SCAN_ENDS,
  ScanProcessEnded,
} from './run-scan-process.js';
import type { ScanAnswer, ScanJob } from './scan-job.js';
import { type InitialCookie, ScanFailed, type Visit } from './visit.js';

/** Faults of a scan. `listener`: the page sent what the proxy or the reader of the browser could not take. */
export const SCAN_FAULTS = ['listener', ...SCAN_ENDS] as const;
export type CountScanFaults = (fault: (typeof SCAN_FAULTS)[number], count: number) => void;

export interface VisitOptions {
  /** Path of Chromium or Chrome; undefined: pages are requested by plain HTTP, without scripts. */
  readonly chromePath: string | undefined;
  /** Networks that are not public and may be reached nevertheless, on any port. */
  readonly allowedNetworks: readonly string[];
  readonly userAgent: string;
  readonly logger: ServiceLogger;
  readonly countFaults: CountScanFaults;
  /** Replaces the program of the processes, for tests. */
  readonly program?: string;
}

/**
 * One visit, in a process of its own.
 * @param domain verified domain that the page must stay on
 * @throws ScanFailed
 */
export type VisitInProcess = (
  url: URL,
  domain: string,
  cookie: InitialCookie | null,
  signal: AbortSignal,
) => Promise<Visit>;

/** Whether the browser is proved to keep to its proxy. */
interface Proof {
  /** Why no page is scanned, for the user; null: it is proved. */
  readonly failure: string | null;
  /** Whether another try would have the same result. */
  readonly isFinal: boolean;
}

const OFF = 'Scans by browser are off on this service. Tell its operator.';

/**
 * Creates visits in processes. Before the first one by browser, a page in the browser asks a port of
 * the service by WebRTC, once with the flags that switch it off, and once without them. No visit is made
 * unless the packet comes the second time alone: a flag that a version of the browser does not know
 * would else be missed.
 */
export function createVisits(options: VisitOptions): VisitInProcess {
  const { chromePath, allowedNetworks, userAgent, logger, countFaults, program } = options;
  const optional = program === undefined ? {} : { program };
  let proving: Promise<Proof> | null = null;

  const tidy = (): Promise<void> =>
    removeLeftFolders(Date.now()).catch((error: unknown) => {
      logger.warn({ reason: String(error) }, 'folders of earlier scans could not be deleted');
    });
  void tidy();

  const run = async (job: ScanJob, signal: AbortSignal, limits = PROCESS_LIMITS): Promise<ScanAnswer> => {
    await tidy();
    try {
      const answer = await runScanProcess(job, { limits, signal, ...optional });
      countFaults('listener', answer.faults);
      if (answer.kind === 'failed') throw new ScanFailed(answer.message);
      if (answer.kind === 'broken') throw endedUnexpectedly('process', answer.at);
      return answer;
    } catch (error) {
      if (error instanceof ScanProcessEnded) {
        countFaults(error.end, 1);
        logger.warn({ reason: error.reason }, 'a scan process ended without a result');
      }
      throw error;
    }
  };

  const isAsked = async (executable: string, isGuarded: boolean): Promise<boolean> => {
    const limits = { ...PROCESS_LIMITS, processMs: PROOF_MS + 5_000 };
    const job = { kind: 'stun', chromePath: executable, isGuarded } as const;
    const answer = await run(job, new AbortController().signal, limits);
    if (answer.kind !== 'asked') throw new ScanFailed('The proof has no result.');
    return answer.isPacket;
  };

  const prove = async (executable: string): Promise<Proof> => {
    try {
      if (await isAsked(executable, true)) {
        logger.error({}, 'browser scans are off: the browser sends WebRTC packets around the scan proxy');
        return { failure: OFF, isFinal: true };
      }
      if (await isAsked(executable, false)) return { failure: null, isFinal: true };
      logger.error(
        {},
        'a scan failed: the check of WebRTC proved nothing, because the browser sent no packet even with WebRTC on',
      );
      return { failure: OFF, isFinal: false };
    } catch (error) {
      logger.error(
        { reason: String(error) },
        'a scan failed: it could not be proved that WebRTC is off in the browser',
      );
      return { failure: error instanceof ScanFailed ? error.message : OFF, isFinal: false };
    }
  };

  const requireProof = async (executable: string, signal: AbortSignal): Promise<void> => {
    proving ??= prove(executable);
    const aborted = abortOf(signal);
    const proof = await Promise.race([proving, aborted.promise]).finally(aborted.release);
    if (proof === 'aborted') throw new ScanFailed(NOT_IN_TIME);
    // A machine that was busy may prove it the next time.
    if (!proof.isFinal) proving = null;
    if (proof.failure !== null) throw new ScanFailed(proof.failure);
  };

  return async (url, domain, cookie, signal) => {
    if (chromePath !== undefined) await requireProof(chromePath, signal);
    const answer = await run(
      {
        kind: 'visit',
        url: url.href,
        domain,
        cookie,
        chromePath: chromePath ?? null,
        allowedNetworks: [...allowedNetworks],
        userAgent,
      },
      signal,
    );
    if (answer.kind !== 'visited') throw endedUnexpectedly('answer', 'it answered another job');
    return answer.visit;
  };
}
