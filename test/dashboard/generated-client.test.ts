import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { titleNeeding } from '../support/missing-tools.js';

const DASHBOARD = fileURLToPath(new URL('../../dashboard/', import.meta.url));
const isBuilt = existsSync(join(DASHBOARD, '../dist/src/api/openapi/panel-api.js'));

test.skipIf(!isBuilt)(
  titleNeeding('the built service', isBuilt, 'the types of the client are those of the OpenAPI document'),
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-dashboard-'));
    const generated = join(folder, 'panel-api.ts');
    await promisify(execFile)(process.execPath, [join(DASHBOARD, 'generate-client.js'), generated]);
    const hint = 'run npm run openapi';
    expect(await readFile(join(DASHBOARD, 'src/api/panel-api.ts'), 'utf8'), hint).toBe(
      await readFile(generated, 'utf8'),
    );
    await rm(folder, { recursive: true });
  },
);
