import * as z from 'zod';
import type { Queryable } from '../../src/platform/database/pool.js';
import { DATABASE_ROLES } from '../../src/platform/database/session.js';

/** Rights of one role on one table: `select, update (a, b)`. */
export interface TableGrant {
  /** Name without the schema, because table names are unique. */
  readonly table: string;
  readonly role: string;
  readonly granted: string;
}

/** Selects, for each table and role, the rights on whole rows and the additional columns. */
const GRANTS_SQL = `
with whole as (
  select c.relname as name, r.rolname as role,
         string_agg(lower(p.privilege), ', ' order by p.place) as granted
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'event_log')
    cross join unnest($1::text[]) as r (rolname)
    cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) with ordinality as p (privilege, place)
   where c.relkind in ('r', 'p') and not c.relispartition and has_table_privilege(r.rolname, c.oid, p.privilege)
   group by 1, 2
), columns as (
  select c.relname as name, r.rolname as role,
         string_agg(lower(p.privilege) || ' (' || a.columns || ')', ', ' order by p.privilege) as granted
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'event_log')
    cross join unnest($1::text[]) as r (rolname)
    cross join unnest(array['SELECT', 'INSERT', 'UPDATE']) as p (privilege)
    cross join lateral (
      select string_agg(attname, ', ' order by attname) as columns from pg_attribute
       where attrelid = c.oid and attnum > 0 and not attisdropped and has_column_privilege(r.rolname, c.oid, attname, p.privilege)
    ) a
   where c.relkind in ('r', 'p') and not c.relispartition and a.columns is not null
     and not has_table_privilege(r.rolname, c.oid, p.privilege)
   group by 1, 2
)
select name as table, role, concat_ws(', ', w.granted, c.granted) as granted
  from whole w full join columns c using (name, role) order by name, role`;

const Grants = z.array(z.object({ table: z.string(), role: z.string(), granted: z.string() }));

/** Reads the rights of the service's roles on its tables, sorted by table and role. */
export async function readTableGrants(db: Queryable): Promise<readonly TableGrant[]> {
  return Grants.parse((await db.query(GRANTS_SQL, [DATABASE_ROLES])).rows);
}
