import type { Server } from 'node:net';
import { describe } from '../platform/background/part.js';
import type { Environment } from '../platform/config/index.js';
import type { Installation } from './installation.js';
import type { ProcessMetrics } from './metrics/process-json.js';
import { noteAccepted } from './process-memory.js';
import { FromApi, HEARTBEAT_MS } from './process-messages.js';
import {
  API_PROGRAM,
  API_SILENCE,
  type SupervisedProcess,
  superviseProcess,
  type WorkerBeside,
} from './supervise-process.js';

/** The processes of `serve` that answer callers, other than the first one. */
export interface FurtherApis {
  /** Resolves when all of them listen. @throws Error if one ends instead, with its message for the operator */
  start(): Promise<void>;
  /** Returns the metrics of each process that answers. */
  metrics(): Promise<readonly ProcessMetrics[]>;
  /** Returns how often one of them was restarted. */
  restarts(): number;
  /** Finishes the requests in progress, then ends the processes. */
  stop(): Promise<void>;
}

export interface FurtherApisOptions {
  readonly count: number;
  readonly env: Environment;
  /** Installation of the first process. A further process that reaches another database server must not answer. */
  readonly installation: Installation;
  readonly worker: WorkerBeside;
  /** The server of the first process, which listens. All processes accept connections from its socket. */
  readonly server: Server;
}

/**
 * Admission groups that each of several processes may have in the database at a time. Groups of one site wait for each
 * other. With more of them, groups are smaller and each consent costs more.
 */
export const GROUPS_OF_SEVERAL = 1;

/**
 * Creates further processes that answer callers. They live as long as the application of the first
 * process. One that dies or hangs is replaced; the others accept its connections meanwhile.
 */
export function createFurtherApis({ count, env, installation, worker, server }: FurtherApisOptions): FurtherApis {
  const { logger, memory, metrics } = installation;
  let isPrepared = false;
  void worker.prepared.then(() => {
    isPrepared = true;
  });
  const tellOfWorker = (process: SupervisedProcess): void => {
    const reasons = worker.reasons().map(({ code, names = [] }) => ({ code, names: [...names] }));
    process.tell({ kind: 'worker', isPrepared, reasons });
  };
  const answer = async (process: SupervisedProcess, message: FromApi): Promise<void> => {
    if (message.kind === 'accepted') noteAccepted(memory, message.eventIds);
    else if (message.kind === 'ask_text') {
      process.tell({ kind: 'text', id: message.id, text: await metrics.text() });
    } else if (message.server !== installation.server.server()) {
      logger.error(
        { server: message.server },
        'an API process reached a different database server; it answers no requests',
      );
      process.tell({ kind: 'stop' });
    } else {
      tellOfWorker(process);
      process.tell({ kind: 'listen' }, server);
    }
  };
  const processes = Array.from({ length: count }, (_, i): SupervisedProcess => {
    const process = superviseProcess({
      name: 'API',
      program: API_PROGRAM,
      // The first process is number 1.
      args: [String(i + 2)],
      env: () => env,
      logger,
      stopMs: null,
      silence: API_SILENCE,
      onOther: (message) => {
        const { success, data } = FromApi.safeParse(message);
        if (success) {
          answer(process, data).catch((error: unknown) => {
            logger.error({ reason: describe(error) }, 'a message from an API process was not answered');
          });
        }
        return success;
      },
    });
    return process;
  });
  const telling = setInterval(() => processes.forEach(tellOfWorker), HEARTBEAT_MS);
  telling.unref();
  return {
    start: async () => {
      await Promise.all(processes.map((process) => process.start()));
    },
    metrics: () => Promise.all(processes.map((process) => process.metrics())),
    restarts: () => processes.reduce((sum, process) => sum + process.restarts(), 0),
    stop: async () => {
      await Promise.all(processes.map((process) => process.stop()));
      clearInterval(telling);
    },
  };
}
