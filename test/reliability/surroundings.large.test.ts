import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenAudit } from '../../src/app/open-audit.js';
import { titleNeeding } from '../support/missing-tools.js';
import { mayMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { until } from '../support/wait.js';
import { expectNothingLost, settled } from './invariants.js';
import { World } from './world.js';

const isPossible = mayMount();

describe('an installation whose surroundings fail', () => {
  let world: World;
  let audit: OpenAudit;
  let small: SmallDisk | null = null;
  let folder: string;
  beforeAll(async () => {
    if (isPossible) small = mountSmallDisk('64k');
    folder = small?.folder ?? mkdtempSync(join(tmpdir(), 'consent-ledger-kept-'));
    const journal = join(folder, 'kept');
    mkdirSync(journal);
    world = await World.open({ ERASURE_JOURNAL: join(journal, 'erasures.ndjson') });
    audit = await world.openAudit();
  });
  afterAll(async () => {
    await audit?.close();
    await world?.close();
    small?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const recordMany = (count: number) => Promise.all(Array.from({ length: count }, () => world.record()));
  const expectWhole = async (label: string): Promise<void> => {
    await settled(world.superuser);
    await expectNothingLost(world.superuser, audit, world.recorded, label);
  };

  test('loses nothing when API processes are replaced and connections are cut under load', async () => {
    for (let round = 0; round < 4; round += 1) {
      const recording = recordMany(40);
      world.of('worker').front.cut();
      if (round % 2 === 0) await world.replace('api');
      else world.of('api').front.cut();
      await recording;
    }
    await expectWhole('cut connections');
  });

  test('accepts consents while the database is unreachable for the worker, and moves them afterwards', async () => {
    world.of('worker').front.silence();
    await recordMany(5);
    world.of('worker').front.restore();
    await expectWhole('a silent database');
  });

  test('accepts and seals while every authority is down', async () => {
    world.authority.isDown = true;
    await recordMany(5);
    await until(async () => {
      const { rowCount } = await world.superuser.query('select from event_log.unsealed_events');
      return rowCount === 0;
    });
    world.authority.isDown = false;
    await expectWhole('authorities that were down');
  });

  test('does the work once with two workers', async () => {
    const second = await world.startBeside('worker');
    await recordMany(30);
    await world.replace('worker');
    await recordMany(30);
    await expectWhole('two workers');
    await second.stop();
  });

  test.runIf(isPossible)(
    titleNeeding('mount', isPossible, 'waits while the disk of journal and ledger head is full'),
    async () => {
      const filler = join(folder, 'filler');
      const fill = (): void => {
        for (let bytes = 65_536; bytes >= 1; bytes /= 2) {
          try {
            writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
          } catch {
            // The rest is smaller.
          }
        }
      };
      fill();
      await world.record('to be erased');
      await world.shop.backend.erase('to be erased');
      await recordMany(3);
      const { rowCount } = await world.superuser.query('select from erasure_requests where finished_at is null');
      expect(rowCount).toBe(1);
      rmSync(filler);
      await expectWhole('a full disk');
    },
  );
});
