import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { signedHeaders } from '../support/signed-requests.js';
import { sampled } from '../support/sweeps.js';
import { PATIENCE_MS, until } from '../support/wait.js';

const Seed = z.object({
  site: z.object({ id: z.string() }),
  keys: z.object({ read: z.string(), write: z.string() }),
  documents: z.array(
    z.object({
      kind: z.string(),
      versions: z.array(z.object({ id: z.string(), language: z.string(), state: z.string() })),
    }),
  ),
});
const PATH = '/tool/v1/consents';

/** Returns the status of a POST on a separate connection, or the error that ended it. */
function post(baseUrl: string, key: string, body: string, onSent = () => {}): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { ...signedHeaders(key, PATH, body), 'content-length': Buffer.byteLength(body) };
    const sent = request(`${baseUrl}${PATH}`, { method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', (error) => resolve(error.message));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.on('finish', onSent);
    sent.end(body);
  });
}

describe('a running installation', () => {
  let installation: TestInstallation;
  let service: RunningService;
  let seed: z.infer<typeof Seed>;
  let body: string;

  beforeAll(async () => {
    // The callers of a busy machine need longer to send their requests.
    installation = await TestInstallation.make({ DRAIN_GRACE_MS: String(PATIENCE_MS) });
    service = await installation.start();
    seed = Seed.parse(await installation.json('admin', 'seed-demo', '--rate-limit', '1000000'));
    const policy = seed.documents.find((document) => document.kind === 'cookie_policy');
    const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
    body = JSON.stringify({ consent_type: 'cookie', decision: 'accepted', document_version_id: version?.id });
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
  });

  test('runs commands beside the server', async () => {
    const results = await Promise.all([
      installation.run('projections', 'status', '--json'),
      installation.run('admin', 'count', '--site', seed.site.id, '--json'),
    ]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    for (const { stdout } of results) expect(() => JSON.parse(stdout)).not.toThrow();
  });

  test('reports a used port and exits when a second server is started', async () => {
    const port = new URL(service.url).port;
    const second = await TestInstallation.make({ PORT: port });
    const { exitCode, stderr } = await second.run('serve');
    await second.remove();
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(port);
  });

  test.each(sampled('signals that end the service', ['SIGTERM', 'SIGINT'] as const))(
    'drains after %s: every request gets a response or was never accepted',
    async (signal) => {
      const outcomes: (number | string)[] = [];
      let isStopping = false;
      const write = async (): Promise<void> => {
        for (;;) {
          const outcome = await post(service.url, seed.keys.write, body);
          outcomes.push(outcome);
          if (isStopping && outcome !== 202) return;
        }
      };
      const writers = Array.from({ length: 12 }, write);
      await until(() => outcomes.length > writers.length);
      isStopping = true;
      expect(await service.stop(signal)).toBe(0);
      await Promise.all(writers);
      // The kernel resets connections in the backlog when a server stops listening. If an accepted
      // request had been cut off, the log would contain more events than there were responses: the
      // count below.
      const ends = new Set(outcomes.filter((outcome) => outcome !== 202));
      expect(['ECONNREFUSED', 'ECONNRESET']).toEqual(expect.arrayContaining([...ends]));

      service = await installation.start();
      const accepted = outcomes.filter((outcome) => outcome === 202).length;
      total += accepted;
      expect(accepted).toBeGreaterThan(0);
      await expect.poll(loggedConsents, { interval: 500 }).toBe(total);
    },
  );

  test('answers requests that the system had accepted before SIGTERM, and the process had not', async () => {
    // The stopped process accepts nothing, so that all connections wait in the backlog.
    service.signal('SIGSTOP');
    let connected = 0;
    const answers = Array.from({ length: 80 }, () => post(service.url, seed.keys.write, body, () => (connected += 1)));
    await expect.poll(() => connected).toBe(80);
    const stopped = service.stop('SIGTERM');
    service.signal('SIGCONT');
    expect(await stopped).toBe(0);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
    service = await installation.start();
    total += 80;
    await expect.poll(loggedConsents, { interval: 500 }).toBe(total);
  });

  let total = 0;
  const Counts = z.object({ log_consents: z.number() });
  async function loggedConsents(): Promise<number> {
    return Counts.parse(await installation.json('admin', 'count', '--site', seed.site.id)).log_consents;
  }
});

describe('wrong configuration', () => {
  test.each([
    [{ PORT: 'eighty' }, 'PORT'],
    [{ TSA_URLS: 'https://tsa.example.org/' }, 'TSA_CA_FILE'],
    [{ MASTER_KEY: 'short' }, 'MASTER_KEY'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL'],
  ])('%o prints one message that names %s, without a stack trace, and exits with code 1', async (env, name) => {
    const installation = await TestInstallation.make(env);
    const { exitCode, stdout, stderr } = await installation.run('serve');
    await installation.remove();
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(name);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
