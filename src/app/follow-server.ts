import type { Logger } from 'pino';
import { LedgerNotCompared, LedgerRolledBack } from '../pipeline/ledger/errors.js';
import { describe } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { Config } from '../platform/config/index.js';
import { ServerChanged } from '../platform/database/errors.js';
import type { Installation } from './installation.js';
import { createProcessMemory, type ProcessMemory } from './process-memory.js';

/** The work of a process on one database server. None of its state in memory outlives it. */
export interface ServerRun {
  readonly installation: Installation;
  /** URL of its HTTP application. Empty if it has none. */
  readonly url: string;
  /** Rejects when a background part fails permanently and an operator must act. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** What the next run starts from. */
export interface Handover {
  readonly isFirst: boolean;
  /** Everything that survives a change of the server. */
  readonly memory: ProcessMemory;
  /** The configuration, with the port that callers already use. */
  readonly config: Config;
  /** Ends the previous run. Call it when nothing can refuse the new run any more, before it listens. */
  begins(): Promise<void>;
}

export interface FollowOptions {
  readonly config: Config;
  readonly logger: Logger;
  /**
   * Opens a run: connects, compares the database with the memory, and starts.
   * @throws LedgerRolledBack, ConsentsLost: the database went back in time
   */
  readonly open: (handover: Handover) => Promise<ServerRun>;
  /** Called when a run is refused and when another one begins. */
  readonly onChange?: () => void;
}

/**
 * Performs one run after the other. A run ends when its connections reach another server, or when the ledger does not
 * continue what is known of it. It then stops using the database, but still reports why. The next run starts with empty
 * caches as soon as the database matches what this process knows. If nothing was lost, that takes a second.
 * @throws the errors of the first `open`, except if a comparison only has to wait for another process: then it waits
 */
export async function followServer({ config, logger, open, onChange }: FollowOptions): Promise<ServerRun> {
  const memory = createProcessMemory();
  const stopping = new AbortController();
  const waitFor = async (
    work: () => Promise<ServerRun>,
    isPassing: (error: unknown) => boolean,
  ): Promise<ServerRun | null> => {
    const backOff = new BackOff();
    let said = '';
    while (!stopping.signal.aborted) {
      try {
        const run = await work();
        if (!stopping.signal.aborted) return run;
        await run.stop();
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (said !== describe(error))
          logger.error({ reason: describe(error) }, 'the database is not usable; trying again');
        said = describe(error);
      }
      await pause(backOff.next(), stopping.signal);
    }
    return null;
  };
  const handoverAfter = (before: ServerRun | null): Handover => ({
    isFirst: before === null,
    memory,
    config: before === null || before.url === '' ? config : withPort(config, before.url),
    begins: async () => before?.stop(),
  });
  const first = await waitFor(
    () => open(handoverAfter(null)),
    (error) => error instanceof LedgerNotCompared,
  );
  if (first === null) throw new Error('the process was stopped before it started');
  let run = first;
  let opening: Promise<ServerRun | null> = Promise.resolve(first);
  const follow = async (): Promise<never> => {
    for (;;) {
      const error = await endOf(run);
      if (!isHistory(error)) throw error;
      const left = run;
      left.installation.server.refuse(error);
      logger.error(
        { reason: describe(error) },
        'the database server changed: it is not used until it was compared with what this process knows',
      );
      onChange?.();
      const handover = handoverAfter(left);
      opening = waitFor(
        () => open(handover),
        (failure) => {
          left.installation.server.refuse(failure instanceof Error ? failure : error);
          return true;
        },
      );
      const next = await opening;
      if (next === null) return new Promise<never>(() => undefined);
      run = next;
      logger.warn(
        { server: run.installation.server.server() },
        'the database matches what this process knows; resuming',
      );
      onChange?.();
    }
  };
  const failed = follow();
  failed.catch(() => undefined);
  return {
    get installation() {
      return run.installation;
    },
    url: first.url,
    failed,
    stop: async () => {
      stopping.abort();
      await run.stop();
      await opening.catch(() => undefined);
    },
  };
}

function isHistory(error: unknown): error is Error {
  return error instanceof ServerChanged || error instanceof LedgerRolledBack;
}

async function endOf({ failed, installation }: ServerRun): Promise<unknown> {
  return await Promise.race([failed, installation.server.lost]).catch((error: unknown) => error);
}

function withPort(config: Config, url: string): Config {
  return { ...config, http: { ...config.http, port: Number(new URL(url).port) } };
}
