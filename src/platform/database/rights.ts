import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError, isCollision } from './errors.js';
import type { Migration } from './migrations.js';
import type { Queryable } from './pool.js';
import { DATABASE_ROLES, READ_MODEL_OWNER, READ_MODEL_READERS, rolesSqlForAdministrator } from './session.js';

const INSUFFICIENT_PRIVILEGE = '42501';
/** SQLSTATEs of a role that another process created at the same moment. */
const EXISTS_ALREADY = ['42710', '23505'];
const MAX_TRIES = 20;

const States = z.array(z.object({ role: z.string(), exists: z.boolean(), granted: z.boolean(), user: z.string() }));

/**
 * Creates the roles of the service that do not exist, and grants them to the user of the connection. Roles belong to
 * the whole server, and a dump of a database does not contain them. They are therefore not a step of the schema, and
 * must exist before a dump is restored. If an administrator has created and granted them, the user does not need
 * CREATEROLE.
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

/**
 * Grants the roles every right that the steps of the schema grant them, and gives the read models to their owner. After
 * a migration this changes nothing. It makes a database usable that was restored with `pg_restore --no-owner`, with
 * `--no-acl`, or before its roles existed.
 * @param db a handle in a transaction, logged in as the schema's owner, without a role
 * @param migrations the steps, all of them applied
 */
export async function restateRights(db: Queryable, migrations: readonly Migration[]): Promise<void> {
  for (const statement of migrations.flatMap(({ sql }) => rightsOf(sql))) await db.query(statement);
  // A dump does not contain rights on the database itself.
  await db.query(`do $$ begin
    execute format('grant temporary on database %I to consent_ledger_auditor', current_database());
  end $$`);
  for (const { statement } of await misownedReadModels(db)) await db.query(statement);
  const { rowCount } = await db.query(`select from pg_namespace where nspname = 'read_model'`);
  if (rowCount === 1) await db.query(`grant select on all tables in schema read_model to ${READ_MODEL_READERS}`);
}

/**
 * Statements of a step that grant or revoke rights. They are read from the SQL, in which each begins a line, because a
 * released step never changes: a second list of the rights could differ from what the steps grant.
 */
function rightsOf(sql: string): readonly string[] {
  return sql.match(/^(?:grant|revoke)\s[^;]*;/gm) ?? [];
}

const Misowned = z.array(z.object({ name: z.string(), statement: z.string() }));

/**
 * Finds schemas, tables and views of the read models that do not belong to their role, which therefore could neither
 * fill nor replace them.
 * @returns their names, and the statements that give them to the role
 */
export async function misownedReadModels(db: Queryable): Promise<z.infer<typeof Misowned>> {
  const { rows } = await db.query(
    `with schemas as (
       select oid, nspname, nspowner from pg_namespace where nspname = 'read_model' or nspname ~ '^rm_.+_[0-9]+$')
     select name, format('alter %s %s owner to %I', kind, name, $1::text) as statement
       from (select 1 as place, 'schema' as kind, quote_ident(nspname) as name, nspowner as owner from schemas
             union all
             select 2, case relkind when 'v' then 'view' else 'table' end,
                    format('%I.%I', nspname, relname), relowner
               from pg_class join schemas on schemas.oid = relnamespace where relkind in ('r', 'p', 'v')) o
      where pg_get_userbyid(owner) <> $1
      order by place, name`,
    [READ_MODEL_OWNER],
  );
  return Misowned.parse(rows);
}
