import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runProgram } from '../../support/run-program.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = join(ROOT, 'docs/data-copies.md');
const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
/** A folder in which `npm install @duckdb/node-api` was run. */
const { DUCKDB_FOLDER } = process.env;
const Seeded = z.looseObject({
  site: z.looseObject({ id: z.string() }),
  keys: z.looseObject({ write: z.string() }),
  api_user: z.object({ email: z.string(), password: z.string() }),
});

test('docs/data-copies.md names the personal fields', async () => {
  const [, list = ''] = /<!-- personal fields -->(.*?)<!-- end -->/s.exec(await readFile(PAGE, 'utf8')) ?? [];
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(PERSONAL_FIELDS);
});

describe('a copy of the records, as docs/data-copies.md says', () => {
  let installation: TestInstallation;
  let service: RunningService;
  let seeded: z.infer<typeof Seeded>;
  let ledger: ConsentLedger;
  let folder: string;
  beforeAll(async () => {
    installation = await TestInstallation.make({ ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1' });
    service = await installation.start();
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-copy-'));
    for (const name of ['bin', 'docs', 'node_modules']) await symlink(join(ROOT, name), join(folder, name));
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** A tenant with the consents of two persons, for which the folder has a new demo.json. */
  const seed = async (): Promise<void> => {
    const found = await installation.json('admin', 'seed-demo');
    await writeFile(join(folder, 'demo.json'), JSON.stringify(found));
    seeded = Seeded.parse(found);
    ledger = new ConsentLedger({ baseUrl: service.url, apiKey: seeded.keys.write, user: seeded.api_user });
    const { version } = await ledger.document('cookie-policy', 'en');
    for (const visitor_id of ['visitor-1', 'visitor-2'])
      await ledger.record({
        consent_type: 'cookie',
        decision: 'accepted',
        document_version_id: version.id,
        visitor_id,
      });
    await expect.poll(exported).toBe(2);
  };
  const exported = async (): Promise<number> => {
    let count = 0;
    for await (const _ of ledger.exportChanges()) count += 1;
    return count;
  };
  const run = async (program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) => {
    const ended = await runProgram(program, args, { cwd, env: { BASE_URL: service.url, ...env } });
    expect(ended).toMatchObject({ exitCode: 0 });
    return ended.stdout;
  };

  test.skipIf(!hasPython)(
    titleNeeding('Python 3.9', hasPython, 'forgets an erased person in SQLite, to the last byte'),
    async () => {
      await seed();
      const [, walk = ''] = /^## Try it\n.*?^```sh\n(.*?)^```$/ms.exec(await readFile(PAGE, 'utf8')) ?? [];
      const output = await run('bash', ['-euo', 'pipefail', '-c', walk], folder, installation.env);
      expect(output).toMatch(/^2 records, 0 of them erased\nvisitor-1 is in the copy\.\n/);
      expect(output).toContain('2 records, 1 of them erased\nvisitor-1 is in no byte of the copy.\n');
      // Another person stays.
      expect(await readFile(join(folder, 'consents.db'), 'latin1')).toContain('visitor-2');
    },
  );

  const hasDuckdb = DUCKDB_FOLDER !== undefined;
  test.skipIf(!hasDuckdb)(
    titleNeeding('DuckDB (DUCKDB_FOLDER)', hasDuckdb, 'forgets an erased person in DuckDB'),
    async () => {
      await seed();
      const own = await mkdtemp(join(DUCKDB_FOLDER ?? '', 'copy-'));
      await mkdir(join(own, 'node_modules/@consent-ledger'), { recursive: true });
      await symlink(join(ROOT, 'sdk/node'), join(own, 'node_modules/@consent-ledger/node'));
      await cp(join(ROOT, 'docs/examples/data-copy/follow-duckdb.mjs'), join(own, 'follow-duckdb.mjs'));
      const { email, password } = seeded.api_user;
      const env = { API_KEY: seeded.keys.write, API_USER: email, API_PASSWORD: password };
      const follow = () => run(process.execPath, ['follow-duckdb.mjs', 'consents.duckdb'], own, env);
      // The order of the columns is that of the table.
      const rows = async () => {
        const program = `import { DuckDBInstance } from '@duckdb/node-api';
          const copy = await (await DuckDBInstance.create('consents.duckdb')).connect();
          const found = await copy.runAndReadAll('select visitor_id from consents order by created_at');
          console.log(JSON.stringify(found.getRowsJson().flat()));`;
        return JSON.parse(await run(process.execPath, ['--input-type=module', '-e', program], own));
      };
      expect(await follow()).toBe('2 records, 0 of them erased\n');
      expect(await rows()).toEqual(['visitor-1', 'visitor-2']);
      await ledger.erase({ subject: { by: 'visitor_id', value: 'visitor-1' } });
      await expect.poll(follow, { interval: 500 }).toBe('2 records, 1 of them erased\n');
      expect(await rows()).toEqual([null, 'visitor-2']);
      expect(await readFile(join(own, 'consents.duckdb'), 'latin1')).not.toContain('visitor-1');
      await rm(own, { recursive: true });
    },
  );
});
