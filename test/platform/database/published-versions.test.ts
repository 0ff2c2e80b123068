import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.js';
import { migrations } from '../../../src/platform/database/migrations/index.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  pool = createPool({
    url: database.url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
}, 60_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

it('gives versions that were published before the ids of their events, from the log and from the outbox, and drafts no number', async () => {
  const place = migrations.findIndex(({ id }) => id === '013-configuration');
  await migrate(pool, migrations.slice(0, place));
  const [tenant, site, document] = [randomUUID(), randomUUID(), randomUUID()];
  const [relayed, waiting, draft] = [randomUUID(), randomUUID(), randomUUID()];
  const [relayedEvent, waitingEvent] = [randomUUID(), randomUUID()];
  const body = (version: string): Buffer =>
    Buffer.from(JSON.stringify({ record: JSON.stringify({ document_version_id: version }) }));
  const type = 'DocumentVersionPublished.v1';
  await pool.query(`insert into tenants (id, name) values ($1, 'Shop')`, [tenant]);
  await pool.query(`insert into sites (id, tenant_id, name, domain) values ($1, $2, 'Shop', 'shop.example')`, [
    site,
    tenant,
  ]);
  await pool.query(
    `insert into documents (id, site_id, slug, kind, requires_approval_token) values ($1, $2, 'terms', 'terms', false)`,
    [document, site],
  );
  await pool.query(`insert into notice_contents (sha256, content) values (repeat('a', 64), 'Text')`);
  await pool.query(
    `insert into document_versions (id, document_id, site_id, language, number, title, media_type, content_sha256, state, published_at)
     select v.id, $4, $5, 'en', v.number, 'Terms', 'text/plain', repeat('a', 64), v.state, case when v.state <> 'draft' then now() end
       from (values ($1::uuid, 1, 'active'), ($2::uuid, 2, 'published'), ($3::uuid, 3, 'draft')) v (id, number, state)`,
    [relayed, waiting, draft, document, site],
  );
  await pool.query(
    `select event_log.append($1, -1, array[$2]::uuid[], array[$3], array[$4]::bytea[], array['']::bytea[])`,
    [`notices-${site}`, relayedEvent, type, body(relayed)],
  );
  await pool.query('insert into outbox (site_id, stream, event_id, type, body) values ($1, $2, $3, $4, $5)', [
    site,
    `notices-${site}`,
    waitingEvent,
    type,
    body(waiting),
  ]);
  await migrate(pool, migrations);
  const { rows } = await pool.query('select id, number, event_id from document_versions order by number');
  expect(rows).toEqual([
    { id: relayed, number: 1, event_id: relayedEvent },
    { id: waiting, number: 2, event_id: waitingEvent },
    { id: draft, number: null, event_id: null },
  ]);
});
