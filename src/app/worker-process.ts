import { describe, OperatorNeeded } from '../platform/background/part.js';
import { loadConfig } from '../platform/config/index.js';
import { createLogger } from '../platform/telemetry/logger.js';
import { endOnUncaught } from './end-on-uncaught.js';
import { followServer, type Handover, type ServerRun } from './follow-server.js';
import { followParent, HEARTBEAT_MS, ToWorker, tellFailure, tellParent } from './process-messages.js';
import { historyReasons } from './readiness.js';
import { startWorkerRun, type WorkerRun } from './worker-run.js';

// The worker's parts of `serve`, in a process of their own: see supervise-process.ts. It listens to
// the process that started it, and to nothing else.
const config = loadConfig(process.env);
const logger = createLogger(config, process.stderr).child({
  role: 'worker',
});
let following: Promise<ServerRun> | null = null;
let current: WorkerRun | null = null;

endOnUncaught(logger);
followParent();
process.on('message', (message) => {
  const told = ToWorker.parse(message);
  if (told.kind === 'start') run().catch(fail);
  else if (told.kind === 'metrics') sendMetrics(told.id).catch(sayUnread);
  else void end(0);
});

sayAlive();
setInterval(sayAlive, HEARTBEAT_MS);

function sayAlive(): void {
  const reasons = current === null ? [] : [...historyReasons(current.installation.server), ...current.reasons()];
  void tellParent({ kind: 'alive', reasons: reasons.map(({ code, names = [] }) => ({ code, names: [...names] })) });
}

async function run(): Promise<void> {
  following = followServer({ config, logger, open, onChange: sayAlive });
  await (await following).failed;
}

/** Starts the parts on one database server, and reports their state to the parent process. */
async function open(handover: Handover): Promise<ServerRun> {
  const run = await startWorkerRun(handover, logger, () => void tellParent({ kind: 'waiting' }));
  try {
    await run.begun;
  } catch (error) {
    await run.stop();
    throw error;
  }
  await handover.begins();
  current = run;
  sayAlive();
  run.prepared
    .then((state) => (state === 'running' ? tellParent({ kind: 'running' }) : undefined))
    .catch(() => undefined);
  return run;
}

async function sendMetrics(id: number): Promise<void> {
  if (current !== null) await tellParent({ kind: 'metrics', id, metrics: await current.installation.metrics.json() });
}

function sayUnread(error: unknown): void {
  logger.warn({ reason: describe(error) }, 'the metrics of the process cannot be read');
}

async function fail(error: unknown): Promise<void> {
  await tellFailure(error, error instanceof OperatorNeeded);
  await end(1);
}

async function end(exitCode: number): Promise<void> {
  const run = await following?.catch(() => null);
  await run?.stop();
  process.exit(exitCode);
}
