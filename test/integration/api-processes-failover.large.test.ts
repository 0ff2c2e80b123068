import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { MigratedCluster, type PostgresPair } from '../support/postgres-pair.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { until } from '../support/wait.js';

let cluster: MigratedCluster;
let pair: PostgresPair;
let proxy: FaultyProxy;
let installation: TestInstallation;
let service: RunningService;
beforeAll(async () => {
  cluster = await MigratedCluster.make();
  pair = await cluster.openPair({ synchronous: true });
  proxy = await FaultyProxy.start(pair.primary.target);
  const url = new URL(pair.primary.url);
  url.port = String(proxy.port);
  installation = await TestInstallation.make({ DATABASE_URL: url.href, API_PROCESSES: '3', LOG_LEVEL: 'info' });
  service = await installation.start();
});
afterAll(async () => {
  await service?.stop();
  await proxy?.close();
  await pair?.close();
  await installation?.remove();
  await cluster?.remove();
});

test('all processes follow the database to a standby that takes over', async () => {
  const seed = await seedTenant(installation, '--rate-limit', '1000000');
  const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: cookieVersionOf(seed) };
  const post = async (): Promise<number> =>
    (await postSigned(service.url, seed.keys.write, '/tool/v1/consents', consent)).status;
  const isAnswering = async (): Promise<boolean> => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => post().catch(() => 0)));
    return answers.every((status) => status === 202);
  };
  expect(await isAnswering()).toBe(true);

  await pair.primary.kill();
  await pair.standby.promote();
  proxy.moveTo(pair.standby.target);
  proxy.cutConnections();
  const movedAt = performance.now();
  await until(isAnswering);
  console.log(`three processes answer again ${Math.round(performance.now() - movedAt)} ms after the change`);

  // No process is left that still uses the server that is gone.
  for (let i = 0; i < 10; i += 1) {
    expect(await isAnswering()).toBe(true);
    await sleep(100);
  }
  expect(await service.stop()).toBe(0);
});
