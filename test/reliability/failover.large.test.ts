import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { Service } from '../../src/app/start-service.js';
import { runCli } from '../../src/cli/run.js';
import { type SeededDemo, seedDemo } from '../../src/demo/seed/seed-demo.js';
import { createPostgresEventLog } from '../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { catchUpLedger } from '../../src/pipeline/ledger/apply-ledger.js';
import { LedgerRolledBack } from '../../src/pipeline/ledger/errors.js';
import { sealBatch } from '../../src/pipeline/sealer/seal.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { createPool } from '../../src/platform/database/pool.js';
import { type Role, startRole } from '../api/server/running-app.js';
import { caseOf } from '../support/case-of.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { figures, secondsSince } from '../support/figures.js';
import { MigratedCluster, type PostgresPair, type PostgresServer } from '../support/postgres-pair.js';
import { cookieVersionOf } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { PATIENCE_MS, until } from '../support/wait.js';
import { bundleCommand } from '../verifier/bundled-command.js';

let cluster: MigratedCluster;
beforeAll(async () => {
  cluster = await MigratedCluster.make();
});
afterAll(() => cluster.remove());

const Answer = z.object({ data: z.object({ consent_token: z.string() }) });
const Ready = z.looseObject({
  status: z.string().optional(),
  reasons: z.array(z.object({ code: z.string() })).optional(),
});
/** Shared by all processes, because those on other hosts have other folders. */
const MASTER_KEY = randomBytes(32).toString('hex');
const STOP_MS = 30_000;

/** Services that reach a pair of servers through one address. */
class Address {
  readonly services: { readonly service: Service; readonly log: readonly string[] }[] = [];
  readonly folders: string[] = [];

  private constructor(
    readonly pair: PostgresPair,
    readonly proxy: FaultyProxy,
  ) {}

  /** Starts the proxy. The end of the test closes it, whether the test passes or fails. */
  static async of(pair: PostgresPair): Promise<Address> {
    const address = new Address(pair, await FaultyProxy.start(pair.primary.target));
    onTestFinished(() => address.close());
    return address;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'failover-'));
    this.folders.push(folder);
    return folder;
  }

  environment(dataDir: string, url = this.pair.primary.url): Readonly<Record<string, string>> {
    const through = new URL(url);
    through.port = String(this.proxy.port);
    return {
      DATABASE_URL: through.href,
      DATA_DIR: dataDir,
      MASTER_KEY,
      PORT: '0',
      BATCH_MAX_AGE_MS: '100',
      STAMP_INTERVAL_MS: '100',
      LAME_DUCK_MS: '0',
      METRICS_TOKEN: 'a-token-of-the-test-for-its-metrics-0123456789',
    };
  }

  async start(role: Role, dataDir: string): Promise<{ readonly service: Service; readonly log: readonly string[] }> {
    const log: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => log.push(line) });
    const started = { service: await startRole(role, loadConfig(this.environment(dataDir)), logger), log };
    this.services.push(started);
    return started;
  }

  command(dataDir: string, ...args: readonly string[]): Promise<number> {
    return runCli([...args, '--json'], {
      env: this.environment(dataDir),
      stdout: new PassThrough().resume(),
      stderr: new PassThrough().resume(),
      lowerPriority: () => undefined,
    });
  }

  /** The primary is gone, and its standby takes over its address. */
  async failOver(): Promise<void> {
    await this.pair.primary.kill();
    await this.pair.standby.promote();
    this.proxy.moveTo(this.pair.standby.target);
    this.proxy.cutConnections();
  }

  /** Ends everything, also if something does not end. */
  private async close(): Promise<void> {
    const stops = this.services.map(({ service }) => service.stop());
    await Promise.race([Promise.allSettled(stops), sleep(STOP_MS)]);
    const failed = (
      await Promise.allSettled([
        ...[this.proxy.close(), this.pair.close()],
        ...this.folders.map((folder) => rm(folder, { recursive: true, force: true })),
      ])
    ).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

const DEMO = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [], rateLimit: 100_000 };
const seed = ({ service }: { readonly service: Service }): Promise<SeededDemo> =>
  seedDemo(service.installation.adminPool, DEMO);

/** @returns the token of a consent that was accepted; null for any other answer, and for none */
async function record({ service }: { readonly service: Service }, demo: SeededDemo): Promise<string | null> {
  try {
    const response = await postSigned(service.url, demo.keys.write, '/tool/v1/consents', {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: cookieVersionOf(demo),
      idempotency_key: randomUUID(),
      visitor_id: randomUUID(),
    });
    const body: unknown = await response.json();
    return response.status === 202 ? Answer.parse(body).data.consent_token : null;
  } catch {
    return null;
  }
}

async function accepted(started: { readonly service: Service }, demo: SeededDemo, count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (let done = 0; done < count; ) {
    if ((await record(started, demo)) !== null) done += 1;
    else if (performance.now() > end) throw new Error(`only ${done} of ${count} consents were accepted`);
  }
}

async function look({ service }: { readonly service: Service }): Promise<{ status: number; codes: readonly string[] }> {
  try {
    const response = await fetch(`${service.url}/readyz`);
    const { reasons = [] } = Ready.parse(await response.json());
    return { status: response.status, codes: reasons.map(({ code }) => code) };
  } catch {
    return { status: 0, codes: [] };
  }
}

const isReady = async (started: { readonly service: Service }) => (await look(started)).status === 200;
const says = async (started: { readonly service: Service }, code: string) => (await look(started)).codes.includes(code);
const isSettled = async (server: PostgresServer) =>
  (await server.count('event_log.waiting')) === 0 &&
  (await server.count(`event_log.log e where (stream like 'consents-%' or stream like 'notices-%' or stream = 'policy')
     and not exists (select from leaves l where l.event_id = e.id)`)) === 0 &&
  (await server.count('batches b where number >= (select coalesce(max(size), 0) from checkpoints)')) === 0;
const headOf = (folder: string) => readFile(join(folder, 'ledger-head.json'), 'utf8');
const logged = ({ log }: { readonly log: readonly string[] }, text: string) => log.some((line) => line.includes(text));

/** Seals batches as a worker of an older version did on the promoted server: nothing compares before. */
async function sealUnguarded(server: PostgresServer, size: number): Promise<void> {
  const role = 'consent_ledger_worker';
  const db = createPool({
    url: server.url,
    role,
    applicationName: 'test',
    maxConnections: 2,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
  const eventLog = createPostgresEventLog({ url: server.url, role });
  let state = await catchUpLedger(db, eventLog);
  while (state.size < size) {
    ({ state } = await sealBatch(db, eventLog, state, { leaves: [], logPosition: null }, new Date()));
  }
  await eventLog.close();
  await db.end();
}

caseOf('other servers')(
  'stops for good when an asynchronous standby takes over that lacks sealed batches',
  async () => {
    const pair = await cluster.openPair({ synchronous: false });
    const address = await Address.of(pair);
    const folder = await address.folder();
    const serve = await address.start('serve', folder);
    const demo = await seed(serve);
    // Without the file: on another host.
    const api = await address.start('api', await address.folder());
    await accepted(serve, demo, 3);
    await until(() => isSettled(pair.primary));
    await pair.caughtUp();
    pair.cutReplication();
    await accepted(serve, demo, 5);
    await accepted(api, demo, 2);
    await until(() => isSettled(pair.primary));
    const head = await headOf(folder);
    const known = z.object({ size: z.number() }).parse(JSON.parse(head)).size;
    const lost = (await pair.primary.count('leaves')) - (await pair.standby.count('leaves'));
    expect(lost).toBeGreaterThan(0);

    const killedAt = performance.now();
    await pair.primary.kill();
    for (const one of [serve, api]) await until(async () => !(await isReady(one)));
    await pair.standby.promote();
    const before = await Promise.all(
      ['batches', 'checkpoints', 'record_keys'].map((table) => pair.standby.count(table)),
    );
    address.proxy.moveTo(pair.standby.target);
    const movedAt = performance.now();
    let ready = 0;
    let answered = 0;
    let refused = 0;
    const watch = async (isOver: () => Promise<boolean>): Promise<void> => {
      const end = performance.now() + PATIENCE_MS;
      while (!(await isOver())) {
        if (performance.now() > end)
          throw new Error(`both say ${JSON.stringify(await Promise.all([serve, api].map(look)))}`);
        for (const one of [serve, api]) {
          if (await isReady(one)) ready += 1;
          if ((await record(one, demo)) !== null) answered += 1;
          else refused += 1;
        }
      }
    };
    await watch(async () => (await says(serve, 'history_lost')) && (await says(api, 'history_lost')));
    expect(logged(serve, 'LedgerRolledBack')).toBe(true);
    const noticed = secondsSince(movedAt);

    // The other history becomes longer than the head that is known.
    await sealUnguarded(pair.standby, known + 3);
    let looks = 0;
    await watch(async () => {
      looks += 1;
      return looks > 20;
    });
    expect({ ready, answered }).toEqual({ ready: 0, answered: 0 });
    expect(await headOf(folder)).toBe(head);
    expect(await pair.standby.count('checkpoints')).toBe(before[1]);
    expect(await pair.standby.count('record_keys')).toBe(before[2]);
    const metrics = await fetch(`${serve.service.url}/metrics`, {
      headers: { authorization: 'Bearer a-token-of-the-test-for-its-metrics-0123456789' },
    });
    expect(await metrics.text()).toMatch(/^consent_ledger_database_refused [12]$/m);

    // A process that knows nothing waits for one that has compared.
    const coldFolder = await address.folder();
    const cold = address.start('api', coldFolder);
    expect(await Promise.race([cold, sleep(3_000, 'waits')])).toBe('waits');
    await expect(address.start('worker', folder)).rejects.toThrow(LedgerRolledBack);

    // The way out of docs/restore.md.
    const acceptedAt = performance.now();
    for (const { service } of address.services.splice(0)) await service.stop();
    expect(await address.command(folder, 'admin', 'log', 'accept-restore')).toBe(0);
    const again = await address.start('serve', folder);
    await accepted(again, demo, 1);
    await accepted(await cold, demo, 1);
    await until(() => isSettled(pair.standby));
    await until(() => isReady(again));
    figures('asynchronous', {
      lost,
      noticed,
      ready,
      answered,
      refused,
      wayOut: secondsSince(acceptedAt),
      all: secondsSince(killedAt),
    });
  },
);

caseOf('other servers')('goes on by itself when a synchronous standby takes over, with one history', async () => {
  const pair = await cluster.openPair({ synchronous: true });
  const address = await Address.of(pair);
  const verifier = bundleCommand();
  onTestFinished(() => verifier.remove());
  const folder = await address.folder();
  const serve = await address.start('serve', folder);
  const demo = await seed(serve);
  await accepted(serve, demo, 3);
  await until(() => isSettled(pair.primary));
  const packageOf = async (name: string): Promise<string> => {
    const output = join(verifier.folder, name);
    expect(await address.command(folder, 'evidence', 'export', '--site', demo.site.id, '--output', output)).toBe(0);
    return name;
  };
  const older = await packageOf('before.zip');

  const cached = serve.service.installation;
  const tokens: string[] = [];
  let isOver = false;
  let lastAt = performance.now();
  let outageMs = 0;
  let refused = 0;
  const load = (async () => {
    while (!isOver) {
      const token = await record(serve, demo);
      if (token === null) refused += 1;
      if (token === null) continue;
      tokens.push(token);
      outageMs = Math.max(outageMs, performance.now() - lastAt);
      lastAt = performance.now();
    }
  })();
  await until(() => tokens.length > 5);
  const failedAt = performance.now();
  await address.failOver();
  const movedAt = performance.now();
  await until(() => lastAt > movedAt && isReady(serve));
  const readyAt = performance.now();
  const reached = tokens.length;
  await until(() => tokens.length > reached + 5);
  isOver = true;
  await load;
  await until(() => isSettled(pair.standby));
  // Caches belong to the installation: none of a time line that ended is used any more.
  expect(serve.service.installation).not.toBe(cached);
  const ids = tokens.map((token) => `'${token.slice(3)}'`).join(',');
  const kept = `leaves where replace(event_id::text, '-', '') in (${ids})`;
  expect(await pair.standby.count(kept)).toBe(tokens.length);
  const newer = await packageOf('after.zip');
  const compared = verifier.run('compare', older, newer, '--ledger-key', join(folder, 'ledger.vkey'));
  expect(compared.stdout + compared.stderr).toContain('ONE HISTORY');
  const times = {
    outage: secondsSince(0, outageMs),
    failOver: secondsSince(failedAt, movedAt),
    readyAfter: secondsSince(movedAt, readyAt),
  };
  figures('synchronous', {
    ...times,
    accepted: tokens.length,
    refused,
    compared: compared.stdout.split('\n')[0] ?? '',
  });
});

caseOf('other servers')(
  'notices the other server with the first connection that reaches it, while others stay open',
  async () => {
    const pair = await cluster.openPair({ synchronous: false });
    const address = await Address.of(pair);
    const folder = await address.folder();
    const serve = await address.start('serve', folder);
    const demo = await seed(serve);
    await accepted(serve, demo, 2);
    await until(() => isSettled(pair.primary));
    await pair.caughtUp();
    pair.cutReplication();
    await accepted(serve, demo, 2);
    await until(() => isSettled(pair.primary));
    await pair.standby.promote();
    // Both servers accept writes, and no connection is cut.
    address.proxy.moveTo(pair.standby.target);
    const movedAt = performance.now();
    const checkpoints = await pair.standby.count('checkpoints');
    await until(() => says(serve, 'history_lost'));
    const noticed = secondsSince(movedAt);
    expect(await pair.standby.count('checkpoints')).toBe(checkpoints);
    expect(await record(serve, demo)).toBeNull();
    // Its address leads back to the server with the history that is known: it goes on by itself.
    address.proxy.moveTo(pair.primary.target);
    const backAt = performance.now();
    await until(() => isReady(serve));
    await accepted(serve, demo, 1);
    figures('connections stay open', { noticed, readyAfter: secondsSince(backAt) });
  },
);

caseOf('other servers')(
  'signs one history only with a worker on each of two servers that both accept writes',
  async () => {
    const pair = await cluster.openPair({ synchronous: false });
    const [old, promoted] = [await Address.of(pair), await Address.of(pair)];
    promoted.proxy.moveTo(pair.standby.target);
    const folder = await old.folder();
    const serve = await old.start('serve', folder);
    const demo = await seed(serve);
    await accepted(serve, demo, 2);
    await until(() => isSettled(pair.primary));
    await pair.caughtUp();
    pair.cutReplication();
    await pair.standby.promote();
    // Nothing is lost yet: both servers continue the head.
    const other = await promoted.start('serve', folder);
    const bothAt = performance.now();
    await Promise.allSettled([accepted(serve, demo, 1), accepted(other, demo, 1)]);
    const isLost = async () => (await says(serve, 'history_lost')) || (await says(other, 'history_lost'));
    await until(async () => {
      await Promise.all([record(serve, demo), record(other, demo)]);
      return isLost();
    });
    const stoppedAfter = secondsSince(bothAt);
    const notes = async (server: PostgresServer) =>
      z
        .array(z.object({ size: z.coerce.number(), note: z.string() }))
        .parse(await server.query('select distinct size, note from checkpoint_tokens'));
    const [one, two] = await Promise.all([notes(pair.primary), notes(pair.standby)]);
    const signed = new Map(one.map(({ size, note }) => [size, note]));
    for (const { size, note } of two) expect(signed.get(size) ?? note, `${size}`).toBe(note);
    figures('both writable', { stoppedAfter, onOne: one.length, onTwo: two.length });
  },
);
