import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { openInstallation } from '../../src/app/installation.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { parseExposition, sampled as sampleOf } from '../app/metrics/exposition.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { sampled } from '../support/sweeps.js';

const TOKEN = 'metrics-token-0123456789abcdef0123456789';
const WRITERS = 6;
/** Between two consents of a writer: what is tested does not depend on how many there are. */
const PAUSE_MS = 30;
const KILLS = 3;

const Accepted = z.object({ data: z.object({ consent_token: z.string() }) });
const Ready = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });
const LogLine = z.object({ level: z.int(), time: z.int(), pid: z.int(), msg: z.string(), role: z.string().optional() });

let installation: TestInstallation;
let service: RunningService;
let seed: SeededTenant;
let versionId: string;
/** Tokens of all consents that were answered with 202. */
const accepted: string[] = [];

/** A listener that throws: a signal calls it. */
const SECRET = 'visitor@example.org';
const THROWING = `process.on('SIGUSR2', () => { throw new Error('${SECRET}'); });`;

beforeAll(async () => {
  installation = await TestInstallation.make({
    METRICS_TOKEN: TOKEN,
    LOG_LEVEL: 'info',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(THROWING)}`,
  });
  service = await installation.start();
  seed = await seedTenant(installation, '--rate-limit', '1000000');
  versionId = cookieVersionOf(seed);
});
afterAll(async () => {
  await service?.stop();
  await installation?.remove();
});

async function post(visitor: string): Promise<void> {
  const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: versionId, visitor_id: visitor };
  const response = await postSigned(service.url, seed.keys.write, '/tool/v1/consents', consent);
  const text = await response.text();
  expect(response.status, text).toBe(202);
  accepted.push(Accepted.parse(JSON.parse(text)).data.consent_token);
}

async function ready(): Promise<z.infer<typeof Ready>> {
  const response = await fetch(`${service.url}/readyz`);
  expect(response.status).toBe(200);
  return Ready.parse(await response.json());
}

const readiness = async (): Promise<string> => (await ready()).status;
const reasons = async (): Promise<string[]> => (await ready()).reasons.map(({ code }) => code);

/** How often the log says that the worker died. */
const replacements = (): number => service.stderr.split('the worker process ended unexpectedly').length - 1;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function loggedTokens(): Promise<string[]> {
  const config = loadConfig(installation.env);
  const opened = await openInstallation(config, pino({ level: 'silent' }), { role: 'test', migrates: false });
  const tokens: string[] = [];
  for (;;) {
    const page = await opened.eventLog.readStream(consentsStream(seed.site.id), tokens.length, 500);
    if (page.length === 0) break;
    tokens.push(...page.map(({ id }) => consentToken(id)));
  }
  await opened.close();
  return tokens;
}

function workerPid(): number {
  const pid = service.workerPid();
  if (pid === null) throw new Error('the service has no worker process');
  return pid;
}

test('replaces a worker that is killed under load, and moves each accepted consent to the log once', async () => {
  const stop = new AbortController();
  const write = async (_: unknown, writer: number): Promise<void> => {
    for (let i = 0; !stop.signal.aborted; i += 1) {
      await post(`visitor-${writer}-${i}`);
      await sleep(PAUSE_MS);
    }
  };
  const load = Promise.all(Array.from({ length: WRITERS }, write));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await sleep(300 + Math.random() * 500);
    const killed = workerPid();
    process.kill(killed, 'SIGKILL');
    await expect.poll(replacements).toBe(kill);
    // The state that `/readyz` reports may be some moments old.
    await expect.poll(() => [null, killed].includes(service.workerPid())).toBe(false);
    await expect.poll(readiness).toBe('ready');
  }
  stop.abort();
  await load;
  expect(accepted.length).toBeGreaterThan(WRITERS);
  await expect.poll(async () => (await loggedTokens()).length).toBe(accepted.length);
  expect((await loggedTokens()).toSorted()).toEqual(accepted.toSorted());
});

test('replaces a worker that hangs, is degraded meanwhile, and loses nothing', async () => {
  const before = replacements();
  const hung = workerPid();
  const stoppedAt = performance.now();
  process.kill(hung, 'SIGSTOP');
  await post('visitor-while-hung');
  await expect.poll(reasons, { interval: 100 }).toContain('worker_hung');
  await expect.poll(() => isAlive(hung), { interval: 100 }).toBe(false);
  await expect.poll(readiness, { interval: 100 }).toBe('ready');
  console.log(`hung worker: replaced ${Math.round(performance.now() - stoppedAt)} ms after it hung`);
  expect(replacements()).toBe(before + 1);
  await expect.poll(async () => (await loggedTokens()).length).toBe(accepted.length);
});

async function scrape() {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return parseExposition(await response.text());
}

test('shows the metrics of both processes, and counts restarts', async () => {
  await expect.poll(async () => sampleOf(await scrape(), 'consent_ledger_part_is_leader', { part: 'relay' })).toBe(1);
  const now = await scrape();
  expect(sampleOf(now, 'consent_ledger_worker_process_restarts_total')).toBe(KILLS + 1);
  expect(sampleOf(now, 'consent_ledger_consents_admitted_total', { outcome: 'accepted' })).toBe(accepted.length);
  for (const role of ['serve', 'worker']) {
    expect(sampleOf(now, 'consent_ledger_info', { role }), role).toBe(1);
    expect(sampleOf(now, 'process_resident_memory_bytes', { role }), role).toBeGreaterThan(1e6);
  }
});

test('writes whole lines of both processes to one log, and names the worker', async () => {
  const lines = service.stderr.trimEnd().split('\n');
  const logged = lines.map((line) => LogLine.parse(JSON.parse(line)));
  const roles = new Map(logged.map(({ pid, role }) => [pid, role]));
  expect([...roles.values()].filter((role) => role !== 'worker')).toEqual([undefined]);
});

test('starts the API again on its port after an exception that nothing caught, and logs no text of it', async () => {
  const failed = service.apiPid();
  service.signal('SIGUSR2');
  const another = async () => ![null, failed].includes(service.apiPid()) && (await readiness()) === 'ready';
  await expect.poll(() => another().catch(() => false)).toBe(true);
  await post('visitor-after-exception');
  expect(sampleOf(await scrape(), 'consent_ledger_api_process_restarts_total')).toBe(1);
  const ended = service.stderr.split('\n').filter((line) => line.includes('uncaught error'));
  expect(ended.map((line) => LogLine.parse(JSON.parse(line)))).toEqual([expect.objectContaining({ level: 60 })]);
  expect(service.stderr).not.toContain(SECRET);
  await expect.poll(async () => (await loggedTokens()).length).toBe(accepted.length);
});

test.each(sampled('signals that end the worker', ['SIGTERM', 'SIGINT'] as const))(
  'ends both processes in order after %s, also if both get it',
  async (signal) => {
    const worker = workerPid();
    const before = replacements();
    process.kill(worker, signal);
    await post(`visitor-${signal}`);
    // The worker leaves the signal to its parent.
    await expect.poll(readiness).toBe('ready');
    expect(await service.stop(signal)).toBe(0);
    expect(replacements()).toBe(before);
    expect(isAlive(worker)).toBe(false);
    service = await installation.start();
    await expect.poll(async () => (await loggedTokens()).length).toBe(accepted.length);
  },
);

test('leaves no worker behind when it is killed itself', async () => {
  const worker = workerPid();
  await service.killParent();
  await expect.poll(() => isAlive(worker)).toBe(false);
  service = await installation.start();
  await expect.poll(readiness).toBe('ready');
});
