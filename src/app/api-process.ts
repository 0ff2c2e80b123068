import { Server } from 'node:net';
import { gateEventLog } from '../pipeline/event-log/gated-event-log.js';
import { describe } from '../platform/background/part.js';
import { loadConfig } from '../platform/config/index.js';
import type { ReadinessReason } from '../platform/health.js';
import { createLogger } from '../platform/telemetry/logger.js';
import { type Api, createApi } from './api.js';
import { assertConnectionsFit } from './connection-room.js';
import { endOnUncaught } from './end-on-uncaught.js';
import { GROUPS_OF_SEVERAL } from './further-apis.js';
import { type Installation, openInstallation } from './installation.js';
import { createProcessMemory } from './process-memory.js';
import { followParent, HEARTBEAT_MS, ToApi, tellFailure, tellParent } from './process-messages.js';

// A further process of `serve` that answers callers: see further-apis.ts. Its argument is its number.
const number = Number(process.argv[2]);
const config = loadConfig(process.env);
const logger = createLogger(config, process.stderr).child({
  role: 'api',
  process: number,
});
const memory = createProcessMemory();
const texts = new Map<number, (text: string) => void>();
let reasons: readonly ReadinessReason[] = [{ code: 'worker_down' }];
let openGate = (): void => undefined;
let opening: Promise<{ readonly installation: Installation; readonly api: Api }> | null = null;
let listening: Api | null = null;
let asked = 0;
let ending = false;

endOnUncaught(logger);
followParent();
process.on('message', (message, handle) => {
  const told = ToApi.parse(message);
  if (told.kind === 'start') run().catch(fail);
  else if (told.kind === 'stop') void end(0);
  else if (told.kind === 'metrics') sendMetrics(told.id).catch(sayUnread);
  else if (told.kind === 'text') texts.get(told.id)?.(told.text);
  else if (told.kind === 'worker') {
    reasons = told.reasons;
    if (told.isPrepared) openGate();
  }
  // Must be immediate: the socket accepts connections from now on.
  else if (handle instanceof Server && listening !== null) {
    listening.listenOn(handle);
    void tellParent({ kind: 'running' });
  }
});

sayAlive();
setInterval(sayAlive, HEARTBEAT_MS);

function sayAlive(): void {
  void tellParent({ kind: 'alive', reasons: [] });
  const eventIds = memory.accepted.map(({ eventId }) => eventId);
  memory.accepted = [];
  if (eventIds.length > 0) void tellParent({ kind: 'accepted', eventIds });
}

async function run(): Promise<void> {
  opening = open();
  const { installation, api } = await opening;
  listening = api;
  await tellParent({ kind: 'opened', server: installation.server.server() });
  // The next process knows nothing about the past. It starts once the first process has compared the server with what
  // is known.
  await installation.server.lost;
}

async function open(): Promise<{ readonly installation: Installation; readonly api: Api }> {
  const installation = await openInstallation(config, logger, { role: `serve ${number}`, migrates: false, memory });
  try {
    await assertConnectionsFit(installation);
    await installation.guard.check();
    const gate = gateEventLog(installation.eventLog);
    openGate = gate.open;
    const options = {
      preparing: { reasons: () => reasons },
      groupsInFlight: GROUPS_OF_SEVERAL,
      metricsText: askForText,
    };
    const api = await createApi({ ...installation, eventLog: gate.eventLog }, options);
    await api.ready();
    return { installation, api };
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/** Asks the first process, the only one that knows it, for the metrics of all processes. */
function askForText(): Promise<string> {
  asked += 1;
  const id = asked;
  return new Promise((resolve) => {
    texts.set(id, (text) => {
      texts.delete(id);
      resolve(text);
    });
    void tellParent({ kind: 'ask_text', id });
  });
}

async function sendMetrics(id: number): Promise<void> {
  const opened = await opening;
  if (opened !== null) await tellParent({ kind: 'metrics', id, metrics: await opened.installation.metrics.json() });
}

function sayUnread(error: unknown): void {
  logger.warn({ reason: describe(error) }, 'the metrics of the process cannot be read');
}

async function fail(error: unknown): Promise<void> {
  await tellFailure(error, false);
  await end(1);
}

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  const opened = await opening?.catch(() => null);
  await opened?.api.stop();
  sayAlive();
  await opened?.installation.close();
  process.exit(exitCode);
}
