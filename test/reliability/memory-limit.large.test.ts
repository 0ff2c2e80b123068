import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { SteadyLoad } from '../support/steady-load.js';
import { until } from '../support/wait.js';
import { expectKept } from './kept.js';

const HEAP_MIB = 96;
const PER_SECOND = 30;
const OUT_OF_MEMORY = /heap out of memory/;
/** Keeps some hundred megabytes more each second after the signal, in `serve` and in its worker process. */
const LEAK = `process.on('SIGUSR2', () => {
  const kept = [];
  setInterval(() => { for (let i = 0; i < 150; i += 1) kept.push(new Array(5000).fill(i + 0.5)); }, 50).unref();
});`;

describe('serve at its memory limit', () => {
  let installation: TestInstallation;
  let service: RunningService;
  let seed: SeededTenant;

  beforeAll(async () => {
    installation = await TestInstallation.make();
    service = await installation.start();
    seed = await seedTenant(installation, '--rate-limit', '1000000');
    await service.stop();
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
  });

  test('loses nothing when Node ends its processes in the middle of their work', async () => {
    const leaking = installation.with({
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --import=data:text/javascript,${encodeURIComponent(LEAK)}`,
    });
    service = await leaking.start();
    const load = new SteadyLoad({ url: () => service.url, seed, perSecond: PER_SECOND, repeats: true });
    await until(() => load.accepted.length > 0);
    const worker = service.workerPid();
    if (worker !== null) process.kill(worker, 'SIGUSR2');
    service.signal('SIGUSR2');
    await until(() => OUT_OF_MEMORY.test(service.stderr));
    // The leak is gone with the processes.
    const before = load.accepted.length;
    await until(() => load.accepted.length > before + PER_SECOND);
    await load.stop();
    expect(load.refused.length).toBeGreaterThan(0);
    await expectKept(installation, seed.site.id, load.accepted);
    console.log(`memory limit: ${load.accepted.length} accepted, ${load.refused.length} requests repeated`);
  });
});
