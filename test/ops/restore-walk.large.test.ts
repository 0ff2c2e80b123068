import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { figures, secondsSince } from '../support/figures.js';
import { titleNeeding } from '../support/missing-tools.js';
import { type EndedProgram, runCommands } from '../support/run-program.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { SystemPostgres, systemPostgresPrograms } from '../support/system-postgres.js';
import { until } from '../support/wait.js';

const PROGRAM = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));
const PAGE = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const BACK_UP = block(/^ {0,3}pg_dump /m);
const RESTORE = block(/^ {0,3}pg_restore /m);
const VERIFY = block(/^ {0,3}npx consent-ledger admin backup verify$/m);

/** The commands of the page's only block that has such a line. */
function block(line: RegExp): string {
  const found = [...PAGE.matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].flatMap(([, , text = '']) =>
    line.test(text) ? [text] : [],
  );
  if (found.length !== 1) throw new Error(`docs/operations.md has ${found.length} blocks with ${line}`);
  return found[0] ?? '';
}

const Counts = z.looseObject({ log_consents: z.int(), read_model_rows: z.int(), stamped_consents: z.int() });
const bin = systemPostgresPrograms();

describe('a backup that is restored as docs/operations.md says', () => {
  let folder: string;
  let installation: TestInstallation;
  let seed: SeededTenant;
  const servers: SystemPostgres[] = [];
  let goneAt = 0;
  beforeAll(async () => {
    if (bin === null) return;
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-restore-'));
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    await symlink(PROGRAM, join(folder, 'node_modules/.bin/consent-ledger'));
    const { server, url } = await newServer('first');
    installation = (await TestInstallation.make()).with({ DATABASE_URL: url });
    const service = await installation.start();
    seed = await seedTenant(installation);
    for (const visitor of ['ada', 'grace', 'joan']) await record(service, visitor);
    await stamped(3);
    await commands(BACK_UP, url);
    // After the dump: a consent that it lacks, and an erasure whose keys come back with it.
    await record(service, 'hedy');
    await stamped(4);
    expect(await erase('grace')).toMatchObject({ exitCode: 0 });
    expect(await service.stop()).toBe(0);
    await remove(server);
    goneAt = performance.now();
  });
  afterAll(async () => {
    for (const server of servers) await server.remove();
    await installation?.remove();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const run = it.skipIf(bin === null);

  async function newServer(database: string): Promise<{ server: SystemPostgres; url: string }> {
    const server = await SystemPostgres.start(bin ?? '');
    servers.push(server);
    await query(server.url('postgres'), `create database ${database}`);
    return { server, url: server.url(database) };
  }

  async function remove(server: SystemPostgres): Promise<void> {
    servers.splice(servers.indexOf(server), 1);
    await server.remove();
  }

  async function query(url: string, sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  /** Runs commands of the page where `consent-ledger` is installed, with the variables of the installation. */
  function commands(text: string, url: string): Promise<EndedProgram> {
    const path = `${bin}:${process.env.PATH}`;
    return runCommands(text, { cwd: folder, env: { ...installation.env, DATABASE_URL: url, PATH: path } });
  }

  async function record(service: RunningService, visitor_id: string): Promise<void> {
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: cookieVersionOf(seed),
      idempotency_key: randomUUID(),
      visitor_id,
    };
    const response = await postSigned(service.url, seed.keys.write, '/tool/v1/consents', consent);
    expect(response.status, await response.text()).toBe(202);
  }

  const erase = (visitor: string) => installation.run('admin', 'erase', '--site', seed.site.id, '--visitor', visitor);

  async function stamped(consents: number): Promise<void> {
    await until(async () => {
      const counts = Counts.parse(await installation.json('admin', 'count', '--site', seed.site.id));
      return counts.read_model_rows === consents && counts.stamped_consents === consents;
    }, 500);
  }

  run(
    titleNeeding('PostgreSQL of the system', bin !== null, 'continues on a new server, of another user without rights'),
    async () => {
      const { server, url } = await newServer('second');
      await query(server.url('postgres'), 'create role service login; alter database second owner to service');
      const own = server.url('second', 'service');
      installation = installation.with({ DATABASE_URL: own });

      const refused = await commands(RESTORE, own);
      expect(refused.exitCode).not.toBe(0);
      const statements = refused.stderr.split('\n').filter((line) => line.startsWith('CREATE ROLE'));
      expect(statements).toHaveLength(5);
      await query(url, statements.join('\n'));
      expect(await commands(RESTORE, own)).toMatchObject({ exitCode: 0, stderr: '' });

      // The erasure is not undone: the journal is newer than the dump.
      const verified = await commands(VERIFY, own);
      expect(verified.stdout).toMatch(/1 key of erased records came back/);
      expect(verified.stdout).toContain('sealed since the backup');
    },
  );

  run(
    titleNeeding('PostgreSQL of the system', bin !== null, 'says what is lost, and continues after accept-restore'),
    async () => {
      const { exitCode, stderr } = await installation.run('worker');
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain('accept-restore');
      expect((await installation.run('admin', 'log', 'accept-restore')).exitCode).toBe(0);
      const service = await installation.start();
      await record(service, 'edith');
      await stamped(4);
      expect((await installation.run('projections', 'status')).exitCode).toBe(0);
      const status = await erase('grace');
      expect(status.stdout).toContain('No record was found to erase');
      expect(await installation.run('audit')).toMatchObject({ exitCode: 0 });
      figures('restore walk', { seconds: secondsSince(goneAt) });
      expect(await service.stop()).toBe(0);
      expect(await installation.run('admin', 'backup', 'verify')).toMatchObject({ exitCode: 0 });
    },
  );

  run(
    titleNeeding(
      'PostgreSQL of the system',
      bin !== null,
      'is usable after migrate if it was restored before its roles',
    ),
    async () => {
      const { url } = await newServer('third');
      const careless = await commands('pg_restore --dbname="$DATABASE_URL" consent-ledger.dump', url);
      expect(careless.stderr).toContain('role "consent_ledger_api" does not exist');
      installation = installation.with({ DATABASE_URL: url });
      const worker = await installation.run('worker');
      expect(worker.exitCode).not.toBe(0);
      expect(worker.stderr).toContain('Run: consent-ledger migrate');
      expect(await installation.run('migrate')).toMatchObject({ exitCode: 0 });
      const verified = await installation.run('admin', 'backup', 'verify');
      expect(verified.stdout, verified.stderr).toContain('The audit found no disagreement.');
      expect((await installation.run('projections', 'rebuild', 'consents')).exitCode).toBe(0);
    },
  );
});
