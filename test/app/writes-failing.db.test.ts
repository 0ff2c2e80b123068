import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { Backend } from '../api/tool/export-fixture.js';
import { postSigned } from '../support/signed-requests.js';

const Ready = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });

let app: RunningApp;
let backend: Backend;
beforeAll(async () => {
  app = await startApp('api');
  backend = await Backend.of(app);
});
afterAll(() => app.stop());

async function readiness(): Promise<{ status: number; codes: string[] }> {
  const { status, body } = await ask(`${app.url}/readyz`);
  return { status, codes: Ready.parse(body).reasons.map(({ code }) => code) };
}

async function post(visitor: string): Promise<number> {
  const consent = { consent_type: 'cookie', decision: 'accepted', visitor_id: visitor };
  const version = { document_version_id: backend.version('cookie_policy') };
  const { demo } = backend;
  return (await postSigned(app.url, demo.keys.write, '/tool/v1/consents', { ...consent, ...version })).status;
}

test('an api whose every write fails leaves the load balancer, and returns without a consent', async () => {
  expect(await post('before')).toBe(202);
  await expect.poll(readiness).toEqual({ status: 200, codes: ['development_authority'] });
  await app.superuser.query(`
    create function refuse_writes() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger refuse_writes before insert on nonces for each statement execute function refuse_writes()`);
  expect(await post('meanwhile')).toBe(503);
  await expect.poll(readiness).toEqual({ status: 503, codes: ['writes_failing', 'development_authority'] });
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  expect(app.log()).toContain('No space left on device');
  await app.superuser.query('drop trigger refuse_writes on nonces');
  await expect.poll(readiness).toEqual({ status: 200, codes: ['development_authority'] });
  expect(await post('after')).toBe(202);
});
