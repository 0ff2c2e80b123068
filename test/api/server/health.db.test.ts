import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createApp } from '../../../src/api/server/app.js';
import { healthRoutes } from '../../../src/api/server/health.js';
import { READINESS_REASONS, type ReadinessReason, type Serving } from '../../../src/platform/health.js';

async function readyz(serving: Serving, ...reasons: readonly ReadinessReason[]) {
  const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
    (scope) => healthRoutes(scope, { readiness: { reasons: async () => reasons }, serving }),
  ]);
  const response = await app.inject('/readyz');
  await app.close();
  return { status: response.statusCode, body: response.json() };
}

const shown = ({ code, ...others }: ReadinessReason) => ({ code, message: READINESS_REASONS[code].message, ...others });
const LOG: ReadinessReason = { code: 'log_away' };
const NOTICES: ReadinessReason = { code: 'projections_stopped', names: ['notices'] };
const AUTHORITY: ReadinessReason = { code: 'development_authority' };
const WRITES: ReadinessReason = { code: 'writes_failing' };

it('GET /readyz is ready without a reason', async () => {
  expect(await readyz('callers')).toEqual({ status: 200, body: { status: 'ready', reasons: [] } });
  expect(await readyz('nobody')).toEqual({ status: 200, body: { status: 'ready', reasons: [] } });
});

it('GET /readyz stays ready where time stamps are no evidence, and says so', async () => {
  const body = { status: 'ready', reasons: [shown(AUTHORITY)] };
  expect(await readyz('callers', AUTHORITY)).toEqual({ status: 200, body });
  expect(await readyz('nobody', AUTHORITY)).toEqual({ status: 200, body });
  expect(await readyz('callers', LOG, AUTHORITY)).toMatchObject({ status: 200, body: { status: 'degraded' } });
});

it('GET /readyz of a process that accepts consents answers 200, with all that is degraded', async () => {
  const body = { status: 'degraded', reasons: [shown(LOG), shown(NOTICES)] };
  expect(await readyz('callers', LOG, NOTICES)).toEqual({ status: 200, body });
});

it('GET /readyz of a process that accepts no consent answers 503, as an error with all reasons', async () => {
  const { status, body } = await readyz('callers', WRITES, LOG);
  expect(status).toBe(503);
  expect(body).toMatchObject({ status: 'unready', reasons: [shown(WRITES), shown(LOG)], code: 'SERVICE_UNAVAILABLE' });
  expect(body.message).toContain(READINESS_REASONS.writes_failing.message);
});

it('GET /readyz of a worker answers 503 for each reason', async () => {
  expect(await readyz('nobody', LOG)).toMatchObject({
    status: 503,
    body: { status: 'unready', reasons: [shown(LOG)] },
  });
});
