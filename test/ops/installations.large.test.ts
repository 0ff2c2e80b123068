import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createTestDatabase } from '../support/postgres.js';
import { runCommands } from '../support/run-program.js';
import { TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, SeededTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { until } from '../support/wait.js';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const PROGRAMS = {
  'consent-ledger': '../../bin/consent-ledger.js',
  'consent-verify': '../../verifier-cli/bin/consent-verify.js',
};
const INSTALLATIONS = pathOf('installations');
const VERSIONS = (await readdir(INSTALLATIONS, { withFileTypes: true })).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const PAGE = await readFile(pathOf('../../docs/upgrade.md'), 'utf8');
const Counts = z.looseObject({ log_consents: z.int(), read_model_rows: z.int(), stamped_consents: z.int() });

/** The commands of the page's only block that has such a line, or the only block of one such line. */
function block(line: RegExp): string {
  const found = [...PAGE.matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].flatMap(([, , text = '']) =>
    line.test(text) ? [text] : [],
  );
  if (found.length !== 1) throw new Error(`docs/upgrade.md has ${found.length} blocks with ${line}`);
  return found[0] ?? '';
}

async function restored(version: string): Promise<{ installation: TestInstallation; folder: string }> {
  const kept = join(INSTALLATIONS, version);
  const database = await createTestDatabase({ migrated: false });
  const installation = await TestInstallation.make({
    DATABASE_URL: database.url,
    LEDGER_ORIGIN: 'upgrade.example/ledger',
    BATCH_MAX_AGE_MS: '100',
    STAMP_INTERVAL_MS: '200',
  });
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-upgrade-'));
  onTestFinished(async () => {
    await installation.remove();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client
    .query(gunzipSync(await readFile(join(kept, 'database.sql.gz'))).toString('utf8'))
    .finally(() => client.end());
  await cp(join(kept, 'files'), installation.dataDir, { recursive: true });
  const bin = join(folder, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  for (const [name, program] of Object.entries(PROGRAMS)) await symlink(pathOf(program), join(bin, name));
  const { dataDir } = installation;
  await symlink(join(dataDir, 'development-tsa/development-tsa-root.pem'), join(folder, 'tsa-roots.pem'));
  await symlink(join(dataDir, 'ledger.vkey'), join(folder, 'ledger.vkey'));
  await cp(join(kept, 'before.zip'), join(folder, 'before.zip'));
  return { installation, folder };
}

it('has an installation of each released version', () => {
  expect(VERSIONS).toContain('0.1.0');
});

it.each(VERSIONS)('upgrades an installation of %s as docs/upgrade.md says', async (version) => {
  const { installation, folder } = await restored(version);
  const seed = SeededTenant.parse(JSON.parse(await readFile(join(INSTALLATIONS, version, 'seed.json'), 'utf8')));
  const run = (commands: string) =>
    runCommands(commands.replaceAll('<id>', seed.site.id), {
      cwd: folder,
      env: { ...installation.env, PATH: process.env.PATH },
    });

  const api = await installation.run('api');
  expect(api.stderr).toContain('Run: consent-ledger migrate');
  const migrated = await run(block(/^ *npx consent-ledger migrate$/m));
  expect(migrated, migrated.stderr).toMatchObject({ exitCode: 0, stdout: 'The database schema is up to date.\n' });

  let service = await installation.start();
  const before = Counts.parse(await installation.json('admin', 'count', '--site', seed.site.id)).log_consents;
  // Records that state their rule and periods, beside those of before; the service is killed after each.
  const acts = [
    { consent_type: 'cookie', decision: 'accepted' },
    { consent_type: 'cookie', decision: 'rejected', categories: { analytics: false } },
    { consent_type: 'objection', decision: 'rejected', categories: { analytics: false } },
  ];
  for (const [index, act] of acts.entries()) {
    const consent = {
      ...{ ...act, document_version_id: cookieVersionOf(seed) },
      ...{ idempotency_key: `after-the-upgrade-${index}`, visitor_id: 'visitor-1' },
    };
    const response = await postSigned(service.url, seed.keys.write, '/tool/v1/consents', consent);
    expect(response.status, await response.text()).toBe(202);
    await service.kill();
    service = await installation.start();
  }
  await until(async () => {
    const counts = Counts.parse(await installation.json('admin', 'count', '--site', seed.site.id));
    return counts.read_model_rows === before + acts.length && counts.stamped_consents === before + acts.length;
  });
  const after = await run(block(/^npx consent-verify compare/m));
  expect(after, after.stdout + after.stderr).toMatchObject({ exitCode: 0 });
  expect(after.stdout).toContain('No disagreement.');
  expect(after.stdout).toMatch(/consents +125\n/);
  expect(after.stdout.match(/^VALID, /gm)).toHaveLength(2);
  expect(after.stdout).toContain('ONE HISTORY');
  // Every row of the read models is that of the log.
  const audited = await installation.run('audit');
  expect(audited, audited.stderr).toMatchObject({ exitCode: 0 });
  expect(await service.stop()).toBe(0);
});
