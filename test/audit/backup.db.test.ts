import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Service } from '../../src/app/start-service.js';
import { eraseSubject, openErasureJournal } from '../../src/erasure/index.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, startApp, startRole } from '../api/server/running-app.js';
import { commandLine } from '../cli/command-line.js';
import { count } from '../pipeline/relay/pipeline.js';
import { copyTestDatabase, type TestDatabase } from '../support/postgres.js';
import { PATIENCE_MS, until } from '../support/wait.js';

const Verified = z.object({
  ledger_size: z.int(),
  head_size: z.int().nullable(),
  is_same_ledger: z.boolean().nullable(),
  streams_behind: z.array(z.string()),
  keys_brought_back: z.int(),
  findings: z.array(z.looseObject({ table: z.string() })),
});

describe('consent-ledger admin backup verify', () => {
  let app: RunningApp;
  let later: Service;
  let backup: TestDatabase;
  beforeAll(async () => {
    app = await startApp('serve');
    const shop = await RecordingTenant.of(app);
    const ann = await shop.record({ visitor_id: 'ann' });
    await shop.record({ visitor_id: 'ben' });
    const isSealed = () => until(async () => (await count(app.superuser, 'event_log.unsealed_events')) === 0);
    await isSealed();
    const { config, databaseUrl } = app.service.installation;
    await app.service.stop();
    await disconnectAll(databaseUrl);
    backup = await copyTestDatabase(databaseUrl);
    later = await startRole('serve', config, pino({ level: 'silent' }));
    const erased = await eraseLater(later, shop, ann.id);
    expect(erased).toBe(0);
    await until(async () => (await count(app.superuser, 'erased_records where erasure_event_id is not null')) > 0);
    await isSealed();
    await later.stop();
  });
  afterAll(async () => {
    await backup?.drop();
    await app?.stop();
  });

  async function eraseLater(service: Service, shop: RecordingTenant, event: string): Promise<number> {
    const { workerPool: db, keyring, config } = service.installation;
    await eraseSubject(
      { db, keyring, journal: openErasureJournal(config.erasureJournal) },
      { siteId: shop.siteId, by: { kind: 'record', eventId: event } },
    );
    return count(app.superuser, 'record_keys where event_id = $1', [event]);
  }

  const verify = async (url: string) => {
    const { exitCode, stdout } = await commandLine(app).run(['admin', 'backup', 'verify', '--json'], {
      DATABASE_URL: url,
    });
    return { exitCode, ...Verified.parse(JSON.parse(stdout)) };
  };

  it('shows what was sealed and erased since the backup', async () => {
    const result = await verify(backup.url);
    expect(result).toMatchObject({ exitCode: 0, streams_behind: [], keys_brought_back: 1, findings: [] });
    expect(result.head_size).toBeGreaterThan(result.ledger_size);
    expect(result.is_same_ledger).toBeNull();
  });

  it('finds nothing that is lacking in the newest state', async () => {
    const result = await verify(app.service.installation.databaseUrl);
    expect(result).toMatchObject({ exitCode: 0, is_same_ledger: true, keys_brought_back: 0, findings: [] });
    expect(result.head_size).toBe(result.ledger_size);
  });
});

/** A database with connections cannot be copied, and the pool of the superuser keeps one. */
async function disconnectAll(databaseUrl: string): Promise<void> {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  await client.query(`select pg_terminate_backend(pid, ${PATIENCE_MS}) from pg_stat_activity where datname = $1`, [
    name,
  ]);
  await client.end();
}
