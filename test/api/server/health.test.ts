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

const READY: Readiness = { stoppedProjections: [], isWorkerDown: false, isLogAway: false };
const shown = { status: 'degraded', stopped_projections: [], worker_is_down: false, event_log_is_away: false };

it.each([
  [{}, { status: 'ready' }],
  [{ isWorkerDown: true }, { ...shown, worker_is_down: true }],
  [{ isLogAway: true }, { ...shown, event_log_is_away: true }],
  [{ stoppedProjections: ['notices'] }, { ...shown, stopped_projections: ['notices'] }],
])('GET /readyz answers 200 with %j', async (degradation, body) => {
  expect(await readyz({ ...READY, ...degradation })).toEqual({ status: 200, body });
});
