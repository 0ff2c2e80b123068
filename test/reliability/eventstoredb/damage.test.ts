import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { consentsStream } from '../../../schemas/events/streams.js';
import { embeddedDatabaseUrl } from '../../support/embedded-database.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { type SeededTenant, seedTenant } from '../../support/seeded-demo.js';
import { SteadyLoad } from '../../support/steady-load.js';

const url = process.env.EVENTSTORE_DAMAGE_URL;

const PER_SECOND = 10;
const WITHIN = { timeout: 120_000, interval: 100 };
const Counts = z.tuple([z.object({ leaves: z.int(), rows: z.int() })]);
const Quarantined = z.object({ quarantined: z.array(z.object({ site_id: z.string(), reason: z.string() })) });
const Ready = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });

if (url === undefined) {
  console.log('SKIPPED: the tests of a damaged log spoil a new EventStoreDB; name it in EVENTSTORE_DAMAGE_URL.');
  describe.skip('a damaged EventStoreDB (EVENTSTORE_DAMAGE_URL is not set)', () => {
    it('costs no other site anything', () => undefined);
  });
} else {
  describeDamage(url);
}

function describeDamage(url: string): void {
  describe('serve under load, while an EventStoreDB is damaged', () => {
    const other = EventStoreDBClient.connectionString(url);
    const jsonInto = (stream: string) =>
      other.appendToStream(stream, jsonEvent({ type: 'OrderPlaced', data: { total: 1 } }));
    let installation: TestInstallation;
    let service: RunningService;
    let worker: number | null;
    let database: pg.Client;
    /** The site with steady load, and sites that get some consents before they are damaged. */
    let healthy: SeededTenant;
    let load: SteadyLoad;

    beforeAll(async () => {
      installation = await TestInstallation.make({ EVENTSTORE_URL: url });
      service = await installation.start();
      healthy = await seedTenant(installation, '--rate-limit', '1000000');
      database = new pg.Client({ connectionString: await embeddedDatabaseUrl(installation.dataDir) });
      await database.connect();
      load = new SteadyLoad({ url: () => service.url, seed: healthy, perSecond: PER_SECOND, repeats: false });
      worker = service.workerPid();
    });
    afterAll(async () => {
      await load?.stop();
      await other.dispose();
      await database?.end();
      await service?.stop();
      await installation?.remove();
    });

    async function counts(siteId: string): Promise<z.infer<typeof Counts>[0]> {
      const { rows } = await database.query(
        `select (select count(*)::int from leaves where stream = $1) as leaves,
                (select count(*)::int from read_model.consents where site_id = $2) as rows`,
        [consentsStream(siteId), siteId],
      );
      return Counts.parse(rows)[0];
    }

    /** Creates a site with consents that are sealed and projected. */
    async function siteWith(consents: number): Promise<SeededTenant> {
      const seed = await seedTenant(installation, '--rate-limit', '1000000');
      const filling = new SteadyLoad({ url: () => service.url, seed, perSecond: 50, repeats: true });
      await vi.waitUntil(() => filling.accepted.length >= consents, WITHIN);
      await filling.stop();
      await vi.waitUntil(async () => {
        const { leaves, rows } = await counts(seed.site.id);
        return leaves === filling.accepted.length && rows === leaves;
      }, WITHIN);
      return seed;
    }

    async function quarantineOf(siteId: string): Promise<string | null> {
      const { quarantined } = Quarantined.parse(await installation.json('admin', 'quarantine', 'list'));
      return quarantined.find(({ site_id }) => site_id === siteId)?.reason ?? null;
    }

    async function readyz(): Promise<z.infer<typeof Ready>> {
      return Ready.parse(await (await fetch(`${service.url}/readyz`)).json());
    }

    const since = (start: number): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`;

    /** Resolves when the other site has 10 more consents sealed and projected. */
    async function othersGoOn(): Promise<void> {
      const before = await counts(healthy.site.id);
      await vi.waitUntil(async () => {
        const now = await counts(healthy.site.id);
        return now.leaves >= before.leaves + 10 && now.rows >= before.rows + 10;
      }, WITHIN);
      expect(load.refused).toEqual([]);
      expect(service.workerPid()).toBe(worker);
    }

    async function quarantines(name: string, siteId: string, strike: () => Promise<unknown>): Promise<void> {
      const start = performance.now();
      await strike();
      await vi.waitUntil(async () => (await quarantineOf(siteId)) !== null, WITHIN);
      console.log(`${name}: quarantined after ${since(start)}: ${await quarantineOf(siteId)}`);
      await othersGoOn();
      expect((await readyz()).status).toBe('ready');
    }

    it('passes over the streams of other programs', async () => {
      await jsonInto('orders-1');
      await othersGoOn();
      expect(await readyz()).toEqual({ status: 'ready', reasons: [] });
    });

    it('quarantines a site with a foreign event', async () => {
      const { site } = await siteWith(20);
      await quarantines('foreign event', site.id, () => jsonInto(consentsStream(site.id)));
    });

    it('quarantines a site whose first events were removed, and says so in every tool', async () => {
      const { site } = await siteWith(200);
      const before = await counts(site.id);
      await quarantines('$maxCount and scavenge', site.id, async () => {
        await other.setStreamMetadata(consentsStream(site.id), { maxCount: 50 });
        const { host } = new URL(url);
        await fetch(`http://${host}/admin/scavenge`, { method: 'POST' });
      });
      const count = await installation.run('admin', 'count', '--site', site.id);
      expect(count).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('lacks') });
      const rebuilt = await installation.run('projections', 'rebuild', 'consents');
      expect(rebuilt.exitCode).toBe(1);
      expect(rebuilt.stderr).toMatch(/lacks/);
      expect(await counts(site.id)).toEqual(before);
    });

    it('starts with a deleted stream, and quarantines its site only', async () => {
      const { site } = await siteWith(20);
      await load.stop();
      await service.stop();
      await other.tombstoneStream(consentsStream(site.id));
      const start = performance.now();
      service = await installation.start();
      worker = service.workerPid();
      console.log(`deleted stream: serve listens after ${since(start)}`);
      load = new SteadyLoad({ url: () => service.url, seed: healthy, perSecond: PER_SECOND, repeats: false });
      expect(await quarantineOf(site.id)).toContain('is empty or was deleted');
      await othersGoOn();
    });

    it('accepts consents and signs nothing while the ledger has a foreign event, also after a restart', async () => {
      const start = performance.now();
      await jsonInto('ledger');
      await vi.waitUntil(async () => (await readyz()).reasons.some(({ code }) => code === 'log_damaged'), WITHIN);
      console.log(`foreign event in the ledger: log_damaged after ${since(start)}`);
      await service.stop();
      service = await installation.start();
      const before = load.accepted.length;
      const again = new SteadyLoad({ url: () => service.url, seed: healthy, perSecond: PER_SECOND, repeats: false });
      await vi.waitUntil(() => again.accepted.length >= 20, WITHIN);
      await vi.waitUntil(async () => (await readyz()).reasons.some(({ code }) => code === 'log_damaged'), WITHIN);
      await again.stop();
      expect(again.refused).toEqual([]);
      console.log(`accepted: ${before} before, ${again.accepted.length} after the restart with a damaged ledger`);
    });

    it('recover says what is missing, and exits with 1', async () => {
      await load.stop();
      await service.stop();
      const recovery = await installation.run('admin', 'log', 'recover');
      console.log(recovery.stdout, recovery.stderr);
      expect(recovery.exitCode).toBe(1);
      expect(recovery.stderr).toMatch(/cannot be restored from the database/);
    });
  });
}
