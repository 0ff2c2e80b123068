import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type ExportWorld, startExportWorld } from './export-world.js';

const PATH = '/tool/v1/s2s/evidence-exports';

let world: ExportWorld;
beforeAll(async () => {
  world = await startExportWorld();
  await world.record(['alice', 'bob']);
});
afterAll(() => world.stop());

const codeOf = async (answer: Response) => [answer.status, Object(await answer.json()).code];

it('exports for a backend with key, bearer token and signature, and the package verifies', async () => {
  const created = await world.s2s('POST', PATH, {
    filter: { visitor_id: 'alice' },
    disclose: ['visitor_id'],
    stated: { reason: 'data_subject_request' },
  });
  expect(created.status).toBe(202);
  const { data } = EvidenceExportAnswer.parse(await created.json());
  expect(data).toMatchObject({ site_id: world.siteId, requested_by: { channel: 's2s' }, disclose: ['visitor_id'] });
  let job = data;
  while (job.state === 'queued' || job.state === 'running') {
    await sleep(300);
    job = EvidenceExportAnswer.parse(await (await world.s2s('GET', `${PATH}/${data.id}`)).json()).data;
  }
  expect(job).toMatchObject({ state: 'finished', package: { counts: { consents: 1 } } });
  expect(job.filter_disclosures).toHaveLength(1);
  const answer = await world.s2s('GET', `${PATH}/${data.id}/package`);
  expect(answer.headers.get('content-type')).toBe('application/zip');
  const verified = world.verify(new Uint8Array(await answer.arrayBuffer()));
  expect(verified.status).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({
    package: { export: { role: 'api_user', reason: 'data_subject_request' } },
  });
  const log = await world.panel.as(world.user('owner'), 'GET', `/audit-log?subject_id=${data.id}`);
  expect(Object(log.body).data.map((line: object) => Object(line).action)).toEqual([
    'export.download',
    'export.create',
  ]);
  expect(JSON.stringify(log.body)).not.toContain('alice');
  // The panel shows the exports of backends.
  expect((await world.read(data.id)).requested_by.channel).toBe('s2s');
});

it('refuses unsigned and replayed requests, a read key, a missing bearer token, and exports of other tenants', async () => {
  const { app } = world.panel;
  const body = '{}';
  const signIn = await world.panel.signIn(world.demo.api_user.email, world.demo.api_user.password);
  const authorization = `Bearer ${Object(Object(signIn.body).data).access_token}`;
  const post = (headers: Record<string, string>) =>
    fetch(app.url + PATH, { method: 'POST', headers: { authorization, ...headers }, body });
  const json = { 'content-type': 'application/json' };
  const unsigned = await post({ ...json, 'x-api-key': world.demo.keys.write });
  expect(await codeOf(unsigned)).toEqual([401, 'MISSING_SIGNATURE_HEADERS']);
  const readKey = await post(signedHeaders(world.demo.keys.read, PATH, body));
  expect(await codeOf(readKey)).toEqual([403, 'INSUFFICIENT_SCOPE']);
  const signed = signedHeaders(world.demo.keys.write, PATH, body);
  expect((await post(signed)).status).toBe(202);
  expect(await codeOf(await post(signed))).toEqual([401, 'NONCE_REPLAYED']);
  const noBearer = await fetch(app.url + PATH, {
    method: 'POST',
    headers: signedHeaders(world.demo.keys.write, PATH, body),
    body,
  });
  expect(await codeOf(noBearer)).toEqual([401, 'MISSING_BEARER_TOKEN']);

  const { own, as } = world.panel;
  const other = await as(own.users.owner, 'POST', `/sites/${own.siteId}/exports`, {});
  const { id } = Object(Object(other.body).data);
  for (const unknown of [id, randomUUID(), 'x']) {
    for (const rest of ['', '/package']) {
      const answer = await world.s2s('GET', `${PATH}/${unknown}${rest}`);
      expect(await codeOf(answer), unknown + rest).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
  }
});
