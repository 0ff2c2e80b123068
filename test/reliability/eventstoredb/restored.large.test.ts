import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { backUpTestDatabase } from '../../support/postgres.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { type SeededTenant, seedTenant } from '../../support/seeded-demo.js';
import { SteadyLoad } from '../../support/steady-load.js';
import { until } from '../../support/wait.js';

const url = process.env.EVENTSTORE_RESTORE_URL;

const BEFORE = 30;
const AFTER = 40;
const Counts = z.looseObject({ log_consents: z.number(), read_model_rows: z.number(), consent_leaves: z.number() });
const Exported = z.looseObject({
  counts: z.looseObject({ consents: z.int(), key_lost: z.int(), not_yet_stamped: z.int() }),
});

if (url === undefined)
  console.log('SKIPPED: a database restored older than EventStoreDB; name a new node in EVENTSTORE_RESTORE_URL.');
describe.skipIf(url === undefined)('a database that was restored older than a real EventStoreDB', () => {
  it('loses keys, which every command counts, and exports go on', async () => {
    const installation = await TestInstallation.make({ EVENTSTORE_URL: url });
    onTestFinished(() => installation.remove());
    const json = async <T>(shape: z.ZodType<T>, ...args: string[]): Promise<T> =>
      shape.parse(await installation.json(...args));
    const record = async (service: RunningService, seed: SeededTenant, consents: number): Promise<number> => {
      const load = new SteadyLoad({ url: () => service.url, seed, perSecond: 50, repeats: true });
      await until(() => load.accepted.length >= consents);
      await load.stop();
      return load.accepted.length;
    };
    const settled = (site: string, consents: number) =>
      expect
        .poll(() => json(Counts, 'admin', 'count', '--site', site))
        .toMatchObject({ log_consents: consents, read_model_rows: consents, consent_leaves: consents });
    const exported = async (site: string, name: string) =>
      json(Exported, 'evidence', 'export', '--site', site, '--output', join(installation.dataDir, name));

    let service = await installation.start();
    const seed = await seedTenant(installation, '--rate-limit', '1000000');
    const { id: site } = seed.site;
    const kept = await record(service, seed, BEFORE);
    await settled(site, kept);
    await service.stop();
    const backup = await backUpTestDatabase(installation.env.DATABASE_URL ?? '');

    service = await installation.start();
    const lost = await record(service, seed, AFTER);
    await settled(site, kept + lost);
    await expect
      .poll(async () => (await exported(site, `before-${Date.now()}.zip`)).counts)
      .toMatchObject({ consents: kept + lost, key_lost: 0, not_yet_stamped: 0 });
    await service.stop();
    await backup.restore();

    const recovery = await installation.run('admin', 'log', 'recover');
    console.log(recovery.stdout);
    expect(recovery).toMatchObject({ exitCode: 0, stderr: '' });
    expect(recovery.stdout).toContain(`the keys of ${lost} records of site ${site}`);
    service = await installation.start();
    await settled(site, kept + lost);
    const { counts } = await exported(site, 'after.zip');
    expect(counts).toMatchObject({ consents: kept + lost, key_lost: lost });
    const further = await record(service, seed, 5);
    await settled(site, kept + lost + further);
    await service.stop();
    const audit = await installation.run('audit');
    console.log(audit.stdout);
    expect(audit.stdout).toContain(`${lost} records of this site have no key`);
    expect(audit.stdout.match(/^[a-z-]+: /gm)).toEqual(['record-without-key: ']);
  });
});
