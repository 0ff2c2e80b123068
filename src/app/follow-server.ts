import type { Logger } from 'pino';
import { LedgerNotCompared, LedgerRolledBack } from '../pipeline/ledger/errors.js';
import { describe } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { Config } from '../platform/config/index.js';
import { ServerChanged } from '../platform/database/errors.js';
import type { Installation } from './installation.js';
import { createProcessMemory, type ProcessMemory } from './process-memory.js';

/** Work of a process on one database server. No state in memory outlives it. */
export interface ServerRun {
  readonly installation: Installation;
  /** URL of its HTTP application; empty if it has none. */
  readonly url: string;
  /** Rejects when a background part fails permanently and an operator must act. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** How the next life begins. */
export interface Handover {
  readonly isFirst: boolean;
  /** All that survives the change of the server. */
  readonly memory: ProcessMemory;
  /** The configuration, with the port that callers know. */
  readonly config: Config;
  /** Ends the life before; called when nothing can refuse the new one any more, before it listens. */
  begins(): Promise<void>;
}

export interface FollowOptions {
  readonly config: Config;
  readonly logger: Logger;
  /**
   * Opens a life: connects, compares the database with the memory, and starts.
   * @throws LedgerRolledBack, ConsentsLost: the database went back in time
   */
  readonly open: (turn: Handover) => Promise<ServerRun>;
  /** Called when a life is refused and when another one begins. */
  readonly onChange?: () => void;
}

/**
 * Runs one life after the other. A life ends when its connections reach another server, or when the
 * ledger does not continue what is known of it: then it uses the database no more, but still says why.
 * The next one starts without caches, as soon as the database matches what this process knows. If nothing
 * was lost, that takes a second.
 * @throws the errors of the first `open`; a comparison that only waits for another process is waited for
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
        const life = await work();
        if (!stopping.signal.aborted) return life;
        await life.stop();
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
  const turnAfter = (before: ServerRun | null): Handover => ({
    isFirst: before === null,
    memory,
    config: before === null || before.url === '' ? config : withPort(config, before.url),
    begins: async () => before?.stop(),
  });
  const first = await waitFor(
    () => open(turnAfter(null)),
    (error) => error instanceof LedgerNotCompared,
  );
  if (first === null) throw new Error('the process was stopped before it started');
  let life = first;
  let opening: Promise<ServerRun | null> = Promise.resolve(first);
  const follow = async (): Promise<never> => {
    for (;;) {
      const error = await endOf(life);
      if (!isHistory(error)) throw error;
      const left = life;
      left.installation.server.refuse(error);
      logger.error(
        { reason: describe(error) },
        'the database server changed: it is not used until it was compared with what this process knows',
      );
      onChange?.();
      const turn = turnAfter(left);
      opening = waitFor(
        () => open(turn),
        (failure) => {
          left.installation.server.refuse(failure instanceof Error ? failure : error);
          return true;
        },
      );
      const next = await opening;
      if (next === null) return new Promise<never>(() => undefined);
      life = next;
      logger.warn(
        { server: life.installation.server.server() },
        'the database matches what this process knows; resuming',
      );
      onChange?.();
    }
  };
  const failed = follow();
  failed.catch(() => undefined);
  return {
    get installation() {
      return life.installation;
    },
    url: first.url,
    failed,
    stop: async () => {
      stopping.abort();
      await life.stop();
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
