import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { pageRoutes } from '../../../src/api/discovery/discovery-routes.js';

test('reads the bundle again after it could not be read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'pages.json');
  const app = fastify();
  pageRoutes(app, file);
  expect((await app.inject('/docs/a.md')).statusCode).toBe(500);
  writeFileSync(file, '{"/docs/a.md":"A"}');
  const { statusCode, body } = await app.inject('/docs/a.md');
  expect([statusCode, body]).toEqual([200, 'A']);
});
