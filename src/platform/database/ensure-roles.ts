import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError } from './errors.js';
import { isCollision } from './migration-collision.js';
import { DATABASE_ROLES, rolesSqlForAdministrator } from './roles.js';

const INSUFFICIENT_PRIVILEGE = '42501';
/** SQLSTATEs of a role that another process created at the same moment. */
const EXISTS_ALREADY = ['42710', '23505'];
const MAX_TRIES = 20;

const States = z.array(z.object({ role: z.string(), exists: z.boolean(), granted: z.boolean(), user: z.string() }));

/**
 * Creates the roles of the service that do not exist, and grants them to the user of the connection.
 * Roles belong to the whole server, and no dump of a database contains them: they are therefore no
 * step of the schema, and exist before a dump is restored. If an administrator has created and
 * granted them, the user needs no CREATEROLE.
 * @param pool logged in as the schema's owner, without a role
 * @param roles names of the roles; each is an SQL identifier that needs no quotes
 * @throws DatabaseSetupError `roles_not_permitted`
 */
export async function ensureRoles(pool: pg.Pool, roles: readonly string[] = DATABASE_ROLES): Promise<void> {
  // PostgreSQL 16 separated the right to SET ROLE from membership.
  const { rows } = await pool.query(
    `select w.role, r.oid is not null as exists, current_user as user,
            r.oid is not null and pg_has_role(current_user, r.oid,
              case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end) as granted
       from unnest($1::text[]) w (role) left join pg_roles r on r.rolname = w.role`,
    [roles],
  );
  for (const { role, exists, granted, user } of States.parse(rows)) {
    try {
      if (!exists) await repeatedly(() => pool.query(`create role ${role} nologin`));
      if (!granted) await repeatedly(() => pool.query(`grant ${role} to ${pg.escapeIdentifier(user)}`));
    } catch (error) {
      throw notPermitted(error, user) ?? error;
    }
  }
}

async function repeatedly(run: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await run();
      return;
    } catch (error) {
      if (error instanceof pg.DatabaseError && EXISTS_ALREADY.includes(error.code ?? '')) return;
      if (tries >= MAX_TRIES || !isCollision(error)) throw error;
      await sleep(10 + Math.random() * 40);
    }
  }
}

function notPermitted(error: unknown, user: string): DatabaseSetupError | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) return undefined;
  return new DatabaseSetupError(
    'roles_not_permitted',
    `The database user ${user} must not create the roles of this service (${error.message}). Ask an administrator to run once:\n` +
      rolesSqlForAdministrator(user),
    { cause: error },
  );
}
