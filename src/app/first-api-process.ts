import * as z from 'zod';
import { OperatorNeeded } from '../platform/background/part.js';
import { loadConfig } from '../platform/config/index.js';
import { createLogger } from '../platform/telemetry/logger.js';
import { endInTime, endOnUncaught, LONGEST_STOP_MS } from './end-on-uncaught.js';
import { followParent, HEARTBEAT_MS, ToWorker, tellFailure, tellParent } from './process-messages.js';
import type { Service } from './start-service.js';
import { superviseProcess, WORKER_PROGRAM } from './supervise-process.js';

// The first process of `serve`, and the process of `api`, that answers callers: see supervise-api.ts. Its
// argument is the role.
const role = z.enum(['serve', 'api']).parse(process.argv[2]);
const config = loadConfig(process.env);
const logger = createLogger(config, process.stderr);
let starting: Promise<Service> | null = null;
let listens = false;
let isEnding = false;

endOnUncaught(logger);
followParent();
process.on('message', (message) => {
  const told = ToWorker.parse(message);
  if (told.kind === 'start') run(told.restarts).catch(fail);
  else if (told.kind === 'stop') void end(0);
});

sayAlive();
setInterval(sayAlive, HEARTBEAT_MS);

function sayAlive(): void {
  void tellParent({ kind: 'alive', reasons: [] });
}

async function run(restarts: number): Promise<void> {
  starting = start(restarts);
  const service = await starting;
  listens = true;
  await tellParent({ kind: 'listens', url: service.url });
  await tellParent({ kind: 'running' });
  await service.failed;
}

// The code of the service is imported only here, so that the worker loads its own at the same time.
async function start(restarts: number): Promise<Service> {
  if (role === 'api') return (await import('./start-service.js')).startApi(config, logger, restarts);
  const worker = superviseProcess({ name: 'worker', program: WORKER_PROGRAM, env: () => process.env, logger });
  const { startServe } = await import('./start-service.js');
  return startServe(config, logger, worker, { env: process.env, restarts });
}

async function fail(error: unknown): Promise<void> {
  await tellFailure(error, error instanceof OperatorNeeded);
  await end(1);
}

async function end(exitCode: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  // Accepted requests are finished, however long they take.
  if (!listens) endInTime({ ms: LONGEST_STOP_MS, logger, exit: (code) => process.exit(code) });
  const service = await starting?.catch(() => null);
  await service?.stop();
  process.exit(exitCode);
}
