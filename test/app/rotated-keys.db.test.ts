import { createSecretKey, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { replaceSigningKey } from '../../src/accounts/sign-in/access-tokens.js';
import { withTransaction } from '../../src/platform/database/pool.js';
import { loadMasterKey, rewrapAll } from '../../src/platform/keys/index.js';
import { ask, get, type RunningApp, startApp } from '../api/server/running-app.js';

describe('a process whose keys are rotated', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.stop());

  it.each(['api', 'serve'] as const)(
    'of role %s is not ready while it lacks the master key in force, and reads the file again',
    async (role) => {
      app = await startApp(role);
      const { config } = app.service.installation;
      const url = `${app.url}/readyz`;
      const demo = await app.seed();
      await expect.poll(async () => (await ask(url)).status).toBe(200);
      const next = randomBytes(32);
      await rewrapAll(app.superuser, await loadMasterKey(config.masterKey), createSecretKey(next));

      const reasons = [{ code: 'master_key_differs' }, { code: 'development_authority' }];
      await expect.poll(() => ask(url)).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE', reasons } });
      expect(app.log()).toContain('The master key was replaced');
      expect((await get(app, '/tool/v1/consents/status?visitor_id=v', demo.keys.read)).status).toBe(503);

      await writeFile(join(config.dataDir, 'master.key'), next.toString('base64'));
      expect((await get(app, '/tool/v1/consents/status?visitor_id=v', demo.keys.read)).status).toBe(200);
      await expect.poll(async () => (await ask(url)).status).toBe(200);
      const later = await app.seed();
      expect((await get(app, '/tool/v1/consents/status?visitor_id=v', later.keys.read)).status).toBe(200);
    },
  );

  it('signs users in after its first key of access tokens was made by a rotation', async () => {
    app = await startApp('api');
    const { workerPool, keyring } = app.service.installation;
    const first = await withTransaction(workerPool, (db) => replaceSigningKey(db, keyring, false));
    expect(first).toMatchObject({ signsIn: 0, formerVerifiesFor: 0 });
    const { panel_user } = await app.seed();
    const login = async () =>
      ask(`${app?.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: panel_user.email, password: panel_user.password }),
      });
    expect((await login()).status).toBe(200);
    const second = await withTransaction(workerPool, (db) => replaceSigningKey(db, keyring, false));
    expect(second.signsIn).toBeGreaterThan(0);
    expect((await login()).status).toBe(200);
  });
});
