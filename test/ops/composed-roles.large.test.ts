import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { type ComposeFolder, composeFolder } from './compose-environment.js';

let folder: ComposeFolder;
let database: TestDatabase;
let installation: TestInstallation;
const running: RunningService[] = [];

/** The processes of a service of docker-compose.yml: its variables, at places of this machine. */
function container(name: string): TestInstallation {
  const places: readonly (readonly [string, string])[] = [
    ['/data', installation.dataDir],
    ['/journal', join(folder.path, 'journal')],
    ['/etc/consent-ledger', join(folder.path, 'private/service')],
  ];
  const moved = Object.entries(folder.environmentOf(name)).map(([variable, value]) => {
    const place = places.find(([inside]) => value === inside || value.startsWith(`${inside}/`));
    return [variable, place === undefined ? value : value.replace(place[0], place[1])];
  });
  const own = { DATABASE_URL: database.url, HOST: '127.0.0.1', PORT: '0' };
  return installation.with({ ...Object.fromEntries(moved), ...own });
}

async function start(role: 'api' | 'worker'): Promise<RunningService> {
  const service = await container(role).start(role);
  running.push(service);
  return service;
}

beforeAll(async () => {
  folder = composeFolder();
  folder.makeEnv('postgres');
  await mkdir(join(folder.path, 'journal'));
  database = await createTestDatabase({ migrated: false });
  installation = await TestInstallation.make({ DATABASE_URL: database.url });
});
afterAll(async () => {
  for (const service of running) await service.kill();
  await database?.drop();
  await installation?.remove();
  folder?.remove();
});

it('runs its roles as separate processes with the variables and files that make-env.sh made', async () => {
  expect(await container('migrate').run('migrate')).toMatchObject({ exitCode: 0 });
  const api = await start('api');
  const worker = await start('worker');
  for (const { url } of [api, worker]) {
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    const token = { authorization: `Bearer ${folder.env().METRICS_TOKEN}` };
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: token })).status).toBe(200);
  }

  const seed = await seedTenant(container('admin'));
  const version = cookieVersionOf(seed);
  const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: version, visitor_id: 'visitor' };
  expect((await postSigned(api.url, seed.keys.write, '/tool/v1/consents', consent)).status).toBe(202);
  // The API has recorded it; only the worker can show it.
  const shown = async (): Promise<string> =>
    (
      await fetch(`${api.url}/tool/v1/consents/status?visitor_id=visitor`, { headers: { 'x-api-key': seed.keys.read } })
    ).text();
  await expect.poll(shown).toContain('"accepted"');

  // The master key is the mounted one: none was generated.
  expect(await readdir(installation.dataDir)).toEqual(expect.arrayContaining(['development-tsa', 'ledger.vkey']));
  expect(await readdir(installation.dataDir)).not.toContain('master.key');
  for (const service of [api, worker]) expect(await service.stop()).toBe(0);
});
