import * as z from 'zod';
import type { Migration } from './migrations/migration.js';
import type { Queryable } from './pool.js';
import { READ_MODEL_OWNER, READ_MODEL_READERS } from './roles.js';

/**
 * Gives the roles every right that the steps of the schema give them, and the read models to their
 * owner. After a migration nothing changes. A database that was restored with `pg_restore --no-owner`,
 * with `--no-acl`, or before its roles existed, becomes usable.
 * @param db in a transaction, logged in as the schema's owner, without a role
 * @param migrations the steps, all of them applied
 */
export async function restateRights(db: Queryable, migrations: readonly Migration[]): Promise<void> {
  for (const statement of migrations.flatMap(({ sql }) => rightsOf(sql))) await db.query(statement);
  // A dump has no rights on the database itself.
  await db.query(`do $$ begin
    execute format('grant temporary on database %I to consent_ledger_auditor', current_database());
  end $$`);
  for (const { statement } of await misownedReadModels(db)) await db.query(statement);
  const { rowCount } = await db.query(`select from pg_namespace where nspname = 'read_model'`);
  if (rowCount === 1) await db.query(`grant select on all tables in schema read_model to ${READ_MODEL_READERS}`);
}

/** Statements of a step that grant or revoke rights. */
function rightsOf(sql: string): readonly string[] {
  return sql.match(/^(?:grant|revoke)\s[^;]*;/gm) ?? [];
}

const Misowned = z.array(z.object({ name: z.string(), statement: z.string() }));

/**
 * Schemas, tables and views of the read models that do not belong to their role, which could then
 * neither fill nor replace them.
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
