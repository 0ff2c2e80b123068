// The nearest open consent backend as its documentation sets it up: its handler, its Kysely adapter and
// a pool of the PostgreSQL client. bench/peer.ts copies this file beside the packages that it imports.
// Arguments: URL of an empty database, connections of the pool. It sends its port to its parent process.
import { c15tInstance } from '@c15t/backend';
import { kyselyAdapter } from '@c15t/backend/db/adapters/kysely';
import { migrator } from '@c15t/backend/db/migrator';
import { DB } from '@c15t/backend/db/schema';
import { serve } from '@hono/node-server';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

const [connectionString, connections] = process.argv.slice(2);
const db = new Kysely({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: Number(connections) }) }),
});
const adapter = kyselyAdapter({ db, provider: 'postgresql' });
const migration = await migrator({ db: DB.client(adapter), schema: 'latest' });
await migration.execute();
const { handler } = c15tInstance({
  adapter,
  appName: 'bench',
  trustedOrigins: ['https://shop.example'],
  logger: { level: 'error' },
});
serve({ fetch: handler, hostname: '127.0.0.1', port: 0 }, ({ port }) => process.send?.(port));
process.on('disconnect', () => process.exit());
