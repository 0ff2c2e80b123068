import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { parseExposition, sampled as sampleOf } from '../app/metrics/exposition.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { signedHeaders } from '../support/signed-requests.js';
import { eventually, PATIENCE_MS, until } from '../support/wait.js';

const TOKEN = 'metrics-token-0123456789abcdef0123456789';
const PROCESSES = 3;
const INVALID_KEY_LIMIT = 7;
const PATH = '/tool/v1/consents';

const LogLine = z.object({ pid: z.int(), msg: z.string(), process: z.int().optional() });
const Answer = z.object({ code: z.string().optional() });

let installation: TestInstallation;
let service: RunningService;
let seed: SeededTenant;
let consent: Record<string, unknown>;
let accepted = 0;

beforeAll(async () => {
  installation = await TestInstallation.make({
    METRICS_TOKEN: TOKEN,
    LOG_LEVEL: 'debug',
    API_PROCESSES: String(PROCESSES),
    INVALID_KEY_LIMIT: String(INVALID_KEY_LIMIT),
    // The callers of a busy machine need longer to send their requests.
    DRAIN_GRACE_MS: String(PATIENCE_MS),
  });
  service = await installation.start();
  seed = await seedTenant(installation, '--rate-limit', '1000000');
  consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: cookieVersionOf(seed) };
});
afterAll(async () => {
  await service?.stop();
  await installation?.remove();
});

interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Sends a request over a connection of its own. */
async function send(
  path: string,
  headers: Record<string, string>,
  body: string | null,
  onSent = () => {},
): Promise<Answered> {
  const agent = new Agent({ keepAlive: false });
  const sent = request(`${service.url}${path}`, { method: body === null ? 'GET' : 'POST', headers, agent });
  sent.on('finish', onSent).end(body ?? undefined);
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('there is no response');
  return { status: response.statusCode ?? 0, body: await text(response) };
}

async function post(onSent?: () => void): Promise<number> {
  const body = JSON.stringify(consent);
  const { status } = await send(PATH, signedHeaders(seed.keys.write, PATH, body), body, onSent);
  if (status === 202) accepted += 1;
  return status;
}

function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, work));
}

function logLines(): z.infer<typeof LogLine>[] {
  return service.stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => LogLine.parse(JSON.parse(line)));
}

/** Ids of the processes that answered requests, by the number in their log lines; the first has none. */
function answering(): Map<number, number> {
  const lines = logLines().filter(({ msg }) => msg === 'request');
  return new Map(lines.map(({ process = 1, pid }) => [process, pid]));
}

async function scrape() {
  const { body } = await send('/metrics', { authorization: `Bearer ${TOKEN}` }, null);
  return parseExposition(body);
}

const restarts = async () => sampleOf(await scrape(), 'consent_ledger_api_process_restarts_total');

test('answers callers in every process, on one port', async () => {
  await expect
    .poll(async () => {
      expect(new Set(await times(60, post))).toEqual(new Set([202]));
      return [...answering().keys()].sort();
    })
    .toEqual([1, 2, 3]);
});

test('shows the metrics of all processes, whichever is asked', async () => {
  // A scrape leaves out a process that does not answer in time. Each process is asked by one of the twenty.
  await eventually(async () => {
    for (let i = 0; i < 20; i += 1) {
      const now = await scrape();
      expect(sampleOf(now, 'consent_ledger_consents_admitted_total', { outcome: 'accepted' })).toBe(accepted);
      expect(sampleOf(now, 'consent_ledger_ledger_size_batches')).toBeGreaterThanOrEqual(1);
      for (const role of ['serve', 'serve 2', 'serve 3', 'worker']) {
        expect(sampleOf(now, 'consent_ledger_info', { role }), role).toBe(1);
        expect(sampleOf(now, 'process_resident_memory_bytes', { role }), role).toBeGreaterThan(1e6);
      }
    }
  });
});

test('keeps limits and nonces exact over all processes', async () => {
  const body = JSON.stringify(consent);
  const headers = signedHeaders(seed.keys.write, PATH, body);
  const answers = await times(40, () => send(PATH, headers, body));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  accepted += 1;
  const unknown = { 'x-api-key': 'cl_unknown' };
  const refused = await times(40, () => send('/tool/v1/config', unknown, null));
  const codes = refused.map((answer) => Answer.parse(JSON.parse(answer.body)).code);
  expect(codes.filter((code) => code === 'INVALID_API_KEY')).toHaveLength(INVALID_KEY_LIMIT);
});

test('replaces a process that is killed, and accepts consents meanwhile', async () => {
  const killed = answering().get(2) ?? 0;
  process.kill(killed, 'SIGKILL');
  // A connection of the killed process may break; every new one is accepted by another.
  await times(20, () => post().catch(() => 0));
  expect(new Set(await times(20, post))).toEqual(new Set([202]));
  await expect.poll(restarts).toBe(1);
  await expect
    .poll(async () => {
      await times(60, post);
      return answering().get(2) ?? killed;
    })
    .not.toBe(killed);
});

test('finishes the requests of all processes when it stops', async () => {
  const pids = [...answering().values()];
  let sent = 0;
  const answers = times(60, () => post(() => (sent += 1)));
  // The system resets a connection that it has not accepted when a server stops.
  await until(() => sent === 60);
  expect(await service.stop()).toBe(0);
  expect(new Set(await answers)).toEqual(new Set([202]));
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
