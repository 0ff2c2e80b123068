import { pino } from 'pino';
import { OperatorNeeded } from '../platform/background/part.js';
import { loadConfig } from '../platform/config/index.js';
import { followServer, type Life, type Turn } from './follow-server.js';
import { historyReasons } from './readiness-sources.js';
import { openWorkerLife, type WorkerLife } from './worker-life.js';
import { type FromWorker, HEARTBEAT_MS, ToWorker } from './worker-messages.js';

// The worker's parts of `serve`, in a process of their own: see supervise-process.ts. It listens to
// the process that started it, and to nothing else.
const config = loadConfig(process.env);
const logger = pino({ level: config.logLevel }, { write: (line: string) => process.stderr.write(line) }).child({
  role: 'worker',
});
let following: Promise<Life> | null = null;
let current: WorkerLife | null = null;

// Ctrl-C and service managers signal every process of a group. The parent stops this process itself,
// after it has answered its last request.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
// The parent was killed. Every part survives a kill at any point, and no process may be left over.
process.on('disconnect', () => process.exit(1));
process.on('message', (message) => {
  const told = ToWorker.parse(message);
  if (told.kind === 'start') run().catch(fail);
  else if (told.kind === 'metrics') void sendMetrics(told.id);
  else void end(0);
});

sayAlive();
setInterval(sayAlive, HEARTBEAT_MS);

function sayAlive(): void {
  const reasons = current === null ? [] : [...historyReasons(current.installation.server), ...current.reasons()];
  void send({ kind: 'alive', reasons: reasons.map(({ code, names = [] }) => ({ code, names: [...names] })) });
}

async function run(): Promise<void> {
  following = followServer({ config, logger, open, onChange: sayAlive });
  await (await following).failed;
}

/** Starts the parts on one database server, and reports their state to the parent process. */
async function open(turn: Turn): Promise<Life> {
  const life = await openWorkerLife(turn, logger, () => void send({ kind: 'waiting' }));
  try {
    await life.begun;
  } catch (error) {
    await life.stop();
    throw error;
  }
  await turn.begins();
  current = life;
  sayAlive();
  life.prepared.then((state) => (state === 'running' ? send({ kind: 'running' }) : undefined)).catch(() => undefined);
  return life;
}

async function sendMetrics(id: number): Promise<void> {
  if (current !== null) await send({ kind: 'metrics', id, metrics: await current.installation.metrics.json() });
}

async function fail(error: unknown): Promise<void> {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  await send({ kind: 'failed', message, needsOperator: error instanceof OperatorNeeded });
  await end(1);
}

async function end(exitCode: number): Promise<void> {
  const life = await following?.catch(() => null);
  await life?.stop();
  process.exit(exitCode);
}

/** Resolves also if the parent is gone, which ends this process. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}
