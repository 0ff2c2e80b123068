import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterDirOf } from '../../../src/platform/database/embedded/home.js';
import { findPostgresPackage, installRuntime } from '../../../src/platform/database/embedded/runtime.js';
import { serverArguments, spawnOptions } from '../../../src/platform/database/embedded/settings.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { refuseUnsafeServer } from '../../../src/platform/database/server-checks.js';
import { eventually } from '../../support/wait.js';
import { accountOf, createInstallation, type Installation, query } from './embedded/fixture.js';

describe('refuseUnsafeServer', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await createInstallation();
  });
  afterAll(() => installation.remove());

  it.each(['fsync', 'full_page_writes'])('refuses a server with %s off, by name', async (setting) => {
    const { home, port, superuserUrl, release } = await installation.open();
    await release();
    const source = await findPostgresPackage(process.platform, process.arch);
    const runtime = await installRuntime(source, home, process.platform);
    const unsafe = spawn(runtime.postgres, [...serverArguments(clusterDirOf(home), port), '-c', `${setting}=off`], {
      ...spawnOptions(home, runtime.libDir, await accountOf(home)),
      stdio: 'ignore',
    });
    const exit = once(unsafe, 'exit');
    await eventually(() => query(superuserUrl, 'SELECT 1'));
    const pool = createPool({
      url: superuserUrl,
      applicationName: 'safety test',
      maxConnections: 1,
      statementTimeoutMs: 10_000,
      onIdleError: () => undefined,
    });
    await expect(refuseUnsafeServer(pool)).rejects.toMatchObject({
      code: 'unsafe_server',
      message: expect.stringContaining(`Set ${setting} = on`),
    });
    await pool.end();
    unsafe.kill('SIGINT');
    await exit;
  });
});
