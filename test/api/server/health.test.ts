import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createApp } from '../../../src/api/server/app.js';
import { healthRoutes, type Readiness } from '../../../src/api/server/health.js';

async function readyz(readiness: Readiness) {
  const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
    (scope) => healthRoutes(scope, async () => readiness),
  ]);
  const response = await app.inject('/readyz');
  await app.close();
  return { status: response.statusCode, body: response.json() };
}

it.each([
  [[], false, { status: 'ready' }],
  [[], true, { status: 'degraded', stopped_projections: [], worker_is_down: true }],
  [['notices'], false, { status: 'degraded', stopped_projections: ['notices'], worker_is_down: false }],
])('GET /readyz answers 200 with stopped projections %j and a worker that is down: %j', async (stopped, down, body) => {
  expect(await readyz({ stoppedProjections: stopped, isWorkerDown: down })).toEqual({ status: 200, body });
});
