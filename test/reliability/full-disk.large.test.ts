import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/database/embedded/index.js';
import { caseOf } from '../support/case-of.js';
import { titleNeeding } from '../support/missing-tools.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { mayMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { SteadyLoad } from '../support/steady-load.js';
import { until } from '../support/wait.js';
import { expectKept } from './kept.js';

const SIZE_MIB = 400;
const PER_SECOND = 30;
const FULL_MS = 10_000;
const LOOKS = 10;
const LOOK_EVERY_MS = 500;

const isPossible = mayMount();

describe.runIf(isPossible)(titleNeeding('mount', isPossible, 'serve, while the disk of PostgreSQL is full'), () => {
  let postgres: EmbeddedPostgres;
  let installation: TestInstallation;
  let service: RunningService;
  let seed: SeededTenant;
  /** For PostgreSQL and its write-ahead log. */
  let disk: SmallDisk;
  let filler: string;
  /** Tokens of all consents of the site. */
  const accepted: string[] = [];

  beforeAll(async () => {
    disk = mountSmallDisk(`${SIZE_MIB}m`);
    filler = join(disk.folder, 'filler');
    postgres = await openEmbeddedPostgres({
      dataDir: join(disk.folder, 'data'),
      rootHomeBase: join(disk.folder, 'home'),
      log: () => undefined,
    });
    installation = await TestInstallation.make({ DATABASE_URL: postgres.superuserUrl });
    service = await installation.start();
    seed = await seedTenant(installation, '--rate-limit', '1000000');
  });
  afterAll(async () => {
    rmSync(filler, { force: true });
    await service?.stop();
    await installation?.remove();
    await postgres?.release();
    disk?.remove();
  });

  /** Takes what room there is, and again what PostgreSQL gives back. */
  function fill(): void {
    for (let bytes = 64 * 1_048_576; bytes >= 4_096; bytes /= 2) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
      } catch {
        // The rest is smaller.
      }
    }
  }

  /** Lets the server begin files of its write-ahead log, for which there is no room. */
  async function crashServer(): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.superuserUrl });
    client.on('error', () => undefined);
    try {
      await client.connect();
      for (let turn = 0; turn < 50; turn += 1) {
        await client.query("select pg_logical_emit_message(false, 'full disk', repeat('x', 1000000)), pg_switch_wal()");
        fill();
      }
    } catch {
      // Its connection ends with the server.
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  const serverLog = (): string => readFileSync(join(postgres.home, 'postgres.log'), 'utf8');

  const isReady = async (): Promise<boolean> => (await fetch(`${service.url}/readyz`)).ok;

  caseOf('full disks')('is not ready while every write fails, and ready again as soon as there is room', async () => {
    const load = new SteadyLoad({ url: () => service.url, seed, perSecond: PER_SECOND, repeats: true });
    await until(() => load.accepted.length > PER_SECOND);
    expect(await isReady()).toBe(true);
    fill();
    await until(async () => !(await isReady()));
    const before = load.refused.length;
    expect(before).toBeGreaterThan(0);
    const looks: boolean[] = [];
    for (let look = 0; look < LOOKS; look += 1) {
      await sleep(LOOK_EVERY_MS);
      fill();
      looks.push(await isReady());
    }
    rmSync(filler);
    const freedAt = performance.now();
    await until(isReady);
    console.log(`full disk: unready in ${looks.filter((ready) => !ready).length} of ${LOOKS} looks`);
    console.log(`full disk: ready again ${Math.round(performance.now() - freedAt)} ms after there was room`);
    await load.stop();
    accepted.push(...load.accepted);
    expect(looks.filter((ready) => ready)).toEqual([]);
  });

  caseOf('full disks')('refuses consents with 503, ends no process, and goes on when there is room', async () => {
    const worker = service.workerPid();
    const load = new SteadyLoad({ url: () => service.url, seed, perSecond: PER_SECOND, repeats: true });
    await until(() => load.accepted.length > PER_SECOND);
    expect(load.refused).toEqual([]);
    fill();
    await crashServer();
    await sleep(FULL_MS);
    const before = load.accepted.length;
    expect(load.refused.length).toBeGreaterThan(0);
    rmSync(filler);
    await until(() => load.accepted.length > before + PER_SECOND);
    await load.stop();
    accepted.push(...load.accepted);

    expect(serverLog()).toContain('No space left on device');
    // Its last words may have had no room; that it had to recover shows that it ended.
    expect(serverLog()).toContain('automatic recovery in progress');
    expect(load.refused.filter((answer) => !answer.startsWith('503 '))).toEqual([]);
    await expectKept(installation, seed.site.id, accepted);
    expect(service.workerPid()).toBe(worker);
    console.log(`full disk: ${load.accepted.length} accepted, ${load.refused.length} answers of 503, all repeated`);
  });
});
