import { z } from 'zod';
import type { Queryable } from '../pool.js';
import { readTableGrants, type TableGrant } from './table-grants.js';

const Texts = z.array(z.string());

const Table = z.object({
  name: z.string(),
  meaning: z.string().nullable(),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      nullable: z.boolean(),
      default: z.string().nullable(),
      meaning: z.string().nullable(),
    }),
  ),
  constraints: Texts,
  indexes: Texts,
  triggers: Texts,
  partitions: Texts,
});
const Type = z.object({ name: z.string(), meaning: z.string().nullable(), parts: Texts });
const Routine = z.object({
  name: z.string(),
  signature: z.string(),
  meaning: z.string().nullable(),
  runsAsOwner: z.boolean(),
  mayExecute: Texts,
});

/** A table with all its parts, as the database describes it. */
export type TableDescription = z.infer<typeof Table>;

/** The schema of a migrated database, in the order in which it was created. */
export interface SchemaDescription {
  readonly tables: readonly TableDescription[];
  readonly types: readonly z.infer<typeof Type>[];
  readonly functions: readonly z.infer<typeof Routine>[];
  readonly grants: readonly TableGrant[];
}

const list = (select: string): string => `coalesce((${select}), '[]'::jsonb)`;

const TABLES_SQL = `
select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
       obj_description(c.oid, 'pg_class') as meaning,
       ${list(`
         select jsonb_agg(jsonb_build_object(
                  'name', a.attname,
                  'type', format_type(a.atttypid, a.atttypmod),
                  'nullable', not a.attnotnull,
                  'default', case a.attidentity when 'a' then 'generated always' else pg_get_expr(d.adbin, d.adrelid) end,
                  'meaning', col_description(c.oid, a.attnum)) order by a.attnum)
           from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`)} as columns,
       ${list(`
         select jsonb_agg(k.conname || ': ' || pg_get_constraintdef(k.oid) order by position(k.contype::text in 'pufc'), k.conname)
           from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')`)} as constraints,
       ${list(`
         select jsonb_agg(x.relname || ': ' || case when i.indisunique then 'UNIQUE ' else '' end
                  || replace(substring(pg_get_indexdef(i.indexrelid) from 'USING (.*)'), 'btree ', '') order by x.relname)
           from pg_index i join pg_class x on x.oid = i.indexrelid
          where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = c.oid)
         `)} as indexes,
       ${list(`
         select jsonb_agg(t.tgname || ': ' || substring(pg_get_triggerdef(t.oid) from '(?:BEFORE|AFTER) .*')
                  || case t.tgenabled when 'A' then ' (also for replicated changes)' else '' end order by t.tgname)
           from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal`)} as triggers,
       ${list(`
         select jsonb_agg(p.relname || ' ' || pg_get_expr(p.relpartbound, p.oid) order by p.relname)
           from pg_inherits h join pg_class p on p.oid = h.inhrelid where h.inhparent = c.oid`)} as partitions
  from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'event_log')
 where c.relkind in ('r', 'p') and not c.relispartition
 order by c.oid`;

const TYPES_SQL = `
select t.typname as name, obj_description(t.oid, 'pg_type') as meaning,
       case t.typtype
         when 'e' then ${list(`select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid`)}
         else ${list(`
           select jsonb_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum)
             from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0`)}
       end as parts
  from pg_type t join pg_namespace n on n.oid = t.typnamespace and n.nspname in ('public', 'event_log')
  left join pg_class c on c.oid = t.typrelid
 where t.typtype = 'e' or c.relkind = 'c'
 order by t.oid`;

const FUNCTIONS_SQL = `
select case n.nspname when 'public' then '' else n.nspname || '.' end || p.proname as name,
       '(' || pg_get_function_identity_arguments(p.oid) || ')' as signature,
       obj_description(p.oid, 'pg_proc') as meaning,
       p.prosecdef as "runsAsOwner",
       ${list(`
         select jsonb_agg(case g.grantee when 0 then 'PUBLIC' else pg_get_userbyid(g.grantee) end order by g.grantee = 0 desc, pg_get_userbyid(g.grantee))
           from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
          where g.privilege_type = 'EXECUTE' and g.grantee <> p.proowner`)} as "mayExecute"
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace and n.nspname in ('public', 'event_log')
 order by p.oid`;

/** Reads the schema from the system catalog of a migrated database. */
export async function readSchema(db: Queryable): Promise<SchemaDescription> {
  return {
    tables: z.array(Table).parse((await db.query(TABLES_SQL)).rows),
    types: z.array(Type).parse((await db.query(TYPES_SQL)).rows),
    functions: z.array(Routine).parse((await db.query(FUNCTIONS_SQL)).rows),
    grants: await readTableGrants(db),
  };
}
