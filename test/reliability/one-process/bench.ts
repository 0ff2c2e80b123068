import pg from 'pg';
import { connectionConfig } from '../../../src/platform/database/connection.js';
import { migrate } from '../../../src/platform/database/migrate.js';
import { loadMigrations } from '../../../src/platform/database/migrations.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { reportOnNothing } from './authorities.js';
import type { Bench } from './history.js';
import type { SimulatedSite } from './processes.js';

const TENANT = '00000000-0000-4000-8000-00000000aaaa';
const SITES: readonly SimulatedSite[] = [0, 1, 2].map((site) => ({
  siteId: `00000000-0000-4000-8000-00000000000${site}`,
  tenantId: TENANT,
}));

/**
 * Functions that hide those of PostgreSQL: the identity of the server, which a history decides. The session
 * looks there first.
 */
const SIMULATED = `
  create schema simulated;
  create function simulated.pg_control_system(out system_identifier bigint) language sql stable
    as $$ select current_setting('sim.system')::bigint $$;
  create function simulated.pg_walfile_name(pg_lsn) returns text language sql stable
    as $$ select current_setting('sim.timeline') || '0000000000000001' $$`;

const SEED = `
  insert into tenants (id, name) values ('${TENANT}', 'Simulated');
  insert into subscriptions (tenant_id, plan, is_active, rate_limit_per_minute) values ('${TENANT}', 'standard', true, 1000);
  -- Histories begin at a time of their own.
  update erasure_progress set announced_at = '2026-11-01';
  insert into sites (id, tenant_id, name, domain) values
    ${SITES.map(({ siteId, tenantId }, place) => `('${siteId}', '${tenantId}', 'Site ${place}', 'site-${place}.example')`).join(', ')}`;

/** Prepares an empty database for histories. @param url of its superuser */
export async function prepareDatabase(url: string): Promise<void> {
  const owner = createPool({
    url,
    applicationName: 'simulation',
    maxConnections: 1,
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
  await migrate(owner, loadMigrations());
  await owner.query(`${SIMULATED}; ${SEED}`);
  await owner.end();
}

/** Opens sessions of two prepared databases. The caller ends them. */
export async function openBench(leaderUrl: string, standbyUrl: string): Promise<Bench> {
  const [leader, standby] = await Promise.all([openSession(leaderUrl), openSession(standbyUrl)]);
  const { rows } = await leader.query(
    `select string_agg(format('select setval(%L, 1, false)', s.oid::regclass), '; ') as reset
       from pg_class s where s.relkind = 'S'`,
  );
  const key = signingKeyOf({ ...newSigningKey('simulated'), ownerId: null, retiredAt: null });
  return { leader, standby, reset: String(rows[0]?.reset), sites: SITES, key, report: await reportOnNothing() };
}

async function openSession(url: string): Promise<pg.Client> {
  const options = { url, applicationName: 'simulation', statementTimeoutMs: 0 };
  const client = new pg.Client(connectionConfig(options));
  await client.connect();
  await client.query('set search_path = simulated, pg_catalog, public; set synchronous_commit = on');
  return client;
}
