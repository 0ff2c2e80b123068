import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Queryable } from './pool.js';
import { DATABASE_ROLES } from './session.js';

/** One difference between the schema of a database and the one that the migrations create. */
export interface SchemaDifference {
  /** Table, view, function, type, role or schema. */
  readonly object: string;
  /** For example `index sites_domain`. Empty for the whole object. */
  readonly part: string;
  /** The end of a sentence about the part: `is missing`. */
  readonly detail: string;
}

const File = z.record(z.string(), z.record(z.string(), z.string()));

/**
 * Returns the schema that the migrations create. A test compares the file with a new database, and can write it.
 * @throws any error of reading the file, which is part of the program
 */
function wantedObjects(): SchemaObjects {
  const text = readFileSync(new URL(`./migrations/${SCHEMA_FILE}`, import.meta.url), 'utf8');
  return new Map(
    Object.entries(File.parse(JSON.parse(text))).map(([name, parts]) => [name, new Map(Object.entries(parts))]),
  );
}

/** Name of the file beside the migrations. */
export const SCHEMA_FILE = 'schema.json';

/** Returns the text of `schema.json`, in the order of the names. */
export function schemaText(objects: SchemaObjects): string {
  const sorted = (map: ReadonlyMap<string, unknown>) =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  const parts = new Map([...objects].map(([name, own]) => [name, sorted(own)]));
  return `${JSON.stringify(sorted(parts), null, 2)}\n`;
}

/**
 * Compares the schema of a database with the one that the migrations of this program create.
 * @param db a handle in any role
 */
export async function compareSchema(db: Queryable): Promise<readonly SchemaDifference[]> {
  return differencesOf(wantedObjects(), await readObjects(db));
}

/**
 * Returns each difference once: if an object is missing, only the object itself. Additions count where they can affect
 * the service: in an object of the service, next to a function of the same name, and in the schema `event_log`.
 */
function differencesOf(wanted: SchemaObjects, found: SchemaObjects): readonly SchemaDifference[] {
  const functions = new Set([...wanted.keys()].flatMap((name) => functionOf(name) ?? []));
  const isOwn = (object: string): boolean => object.startsWith('event_log.') || functions.has(functionOf(object) ?? '');
  const added = [...found.keys()].filter((object) => !wanted.has(object) && isOwn(object));
  return [
    ...[...wanted].flatMap(([object, parts]) => {
      const own = found.get(object);
      return own === undefined ? [{ object, part: '', detail: 'is missing' }] : differencesIn(object, parts, own);
    }),
    ...added.map((object) => ({ object, part: '', detail: 'was added' })),
  ];
}

function differencesIn(
  object: string,
  wanted: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): readonly SchemaDifference[] {
  return [...new Set([...wanted.keys(), ...found.keys()])].flatMap((part) => {
    const must = wanted.get(part);
    const is = found.get(part);
    if (must === is) return [];
    if (is === undefined) return [{ object, part, detail: `is missing: ${must}` }];
    if (must === undefined) return [{ object, part, detail: `was added: ${is}` }];
    return [{ object, part, detail: `is "${is}" and must be "${must}"` }];
  });
}

/** The name of a function without its parameters, or null for other objects. */
function functionOf(object: string): string | null {
  return /^([^(]+)\(/.exec(object)?.[1] ?? null;
}

/**
 * The objects of a schema by name (`event_log.` before those of the schema `event_log`), each with its
 * parts: its columns, constraints, indexes, triggers and rights, each with its definition. The part
 * without a name is the object itself.
 */
type SchemaObjects = ReadonlyMap<string, ReadonlyMap<string, string>>;

const named = (schema: string, name: string): string =>
  `case ${schema} when 'public' then '' else ${schema} || '.' end || ${name}`;

/** SQL: the state of a trigger, unless it is the usual one. */
const TRIGGER_STATE = `case t.tgenabled when 'O' then '' when 'A' then ', always' when 'R' then ', in replicas only' else ', disabled' end`;

/** Rights as `select, insert`, without those of the owner. @param acl rows of `aclexplode` as `g` */
const rights = (object: string, part: string, from: string, acl: string, owner: string): string => `
  select ${object}, 'rights of ' || case g.grantee when 0 then 'PUBLIC' else who.rolname::text end || ${part},
         string_agg(lower(g.privilege_type) || case when g.is_grantable then ' with grant option' else '' end, ', ' order by g.privilege_type)
    from ${from} cross join lateral aclexplode(${acl}) g left join pg_roles who on who.oid = g.grantee
   where g.grantee <> ${owner} and (g.grantee = 0 or who.rolname = any ($1)) group by 1, 2`;

/**
 * The definitions are those that PostgreSQL itself renders from its system tables. For views and functions a digest of
 * the body is enough; versions of PostgreSQL qualify the columns of a view differently. What an operator may tune is
 * not compared: storage parameters, statistics targets above 0, tablespaces, owners.
 */
const OBJECTS_SQL = `
with schemas as (
  select oid, nspname::text as name, nspowner, nspacl from pg_namespace where nspname in ('public', 'event_log')
), relations as (
  select c.*, ${named('n.name', 'c.relname')} as name
    from pg_class c join schemas n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'f')
     and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), functions as (
  select p.*, ${named('n.name', 'p.proname')} || '(' || pg_get_function_identity_arguments(p.oid) || ')' as name
    from pg_proc p join schemas n on n.oid = p.pronamespace
   where not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
), types as (
  select t.*, ${named('n.name', 't.typname')} as name
    from pg_type t join schemas n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
   where t.typtype in ('e', 'd') or c.relkind = 'c'
)
select r.name as object, '' as part,
       concat_ws(', ',
         case r.relkind when 'r' then 'table' when 'p' then 'table partitioned by ' || pg_get_partkeydef(r.oid)
           when 'v' then 'view ' || md5(regexp_replace(pg_get_viewdef(r.oid), '\\m\\w+\\.|\\s', '', 'g')) else 'relation of kind ' || r.relkind::text end,
         case r.relpersistence when 'p' then null else 'not logged' end,
         (select 'partition of ' || ${named('s.name', 'm.relname')} || ' ' || pg_get_expr(r.relpartbound, r.oid)
            from pg_inherits h join pg_class m on m.oid = h.inhparent join schemas s on s.oid = m.relnamespace where h.inhrelid = r.oid),
         case when r.relrowsecurity then 'row security' end,
         case when r.relforcerowsecurity then 'row security of the owner' end) as definition
  from relations r
union all
select r.name, 'column ' || a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod),
         (select 'collate ' || l.collname from pg_collation l join pg_type y on y.oid = a.atttypid
           where l.oid = a.attcollation and a.attcollation <> y.typcollation),
         case when a.attnotnull then 'not null' end,
         case a.attidentity when 'a' then 'generated always as identity' when 'd' then 'generated by default as identity' end,
         case a.attgenerated when '' then 'default ' else 'generated ' end || pg_get_expr(d.adbin, d.adrelid),
         case when a.attstattarget = 0 then 'without statistics' end)
  from relations r join pg_attribute a on a.attrelid = r.oid left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
 where a.attnum > 0 and not a.attisdropped and r.relkind <> 'v'
union all
select r.name, 'constraint ' || k.conname,
       pg_get_constraintdef(k.oid)
         || case when exists (select from pg_index i where i.indexrelid = k.conindid and i.indrelid = r.oid
                                 and not (i.indisvalid and i.indisready and i.indislive)) then ', invalid' else '' end
         || case when exists (select from pg_trigger t where t.tgconstraint = k.oid and t.tgisinternal and t.tgenabled <> 'O')
                 then ', disabled' else '' end
  from relations r join pg_constraint k on k.conrelid = r.oid
 where k.contype in ('p', 'u', 'f', 'c', 'x')
union all
select r.name, 'index ' || x.relname,
       pg_get_indexdef(x.oid) || case when i.indisvalid and i.indisready and i.indislive then '' else ', invalid' end
  from relations r join pg_index i on i.indrelid = r.oid join pg_class x on x.oid = i.indexrelid
 where not exists (select from pg_constraint k where k.conindid = x.oid and k.conrelid = r.oid)
union all
select r.name, 'trigger ' || t.tgname, pg_get_triggerdef(t.oid) || ${TRIGGER_STATE}
  from relations r join pg_trigger t on t.tgrelid = r.oid
 where not t.tgisinternal
union all
select r.name, 'rule ' || w.rulename, pg_get_ruledef(w.oid)
  from relations r join pg_rewrite w on w.ev_class = r.oid
 where w.rulename <> '_RETURN'
union all
select r.name, 'policy ' || y.polname, 'policy'
  from relations r join pg_policy y on y.polrelid = r.oid
union all
select f.name, '',
       concat_ws(', ', 'function in ' || l.lanname, 'returns ' || pg_get_function_result(f.oid),
         case f.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
         case when f.proisstrict then 'strict' end,
         case when f.prosecdef then 'runs as its owner' end,
         array_to_string(f.proconfig, ', '),
         'body ' || md5(f.prosrc))
  from functions f join pg_language l on l.oid = f.prolang
union all
select t.name, '',
       case t.typtype
         when 'e' then 'enum ' || (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
         when 'd' then 'domain of ' || format_type(t.typbasetype, t.typtypmod)
         else 'type of ' || (select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
                               from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
       end
  from types t
union all
select 'role ' || r.rolname, '',
       concat_ws(', ', 'role',
         case when r.rolcanlogin then 'can log in' end,
         case when r.rolsuper then 'superuser' end,
         case when r.rolbypassrls then 'passes row security' end,
         case when r.rolcreaterole then 'creates roles' end,
         case when r.rolreplication then 'replicates' end,
         (select 'is in ' || string_agg(o.rolname, ', ' order by o.rolname) from pg_auth_members m join pg_roles o on o.oid = m.roleid
           where m.member = r.oid))
  from pg_roles r where r.rolname = any ($1)
union all ${rights('r.name', `''`, 'relations r', 'r.relacl', 'r.relowner')}
union all ${rights('r.name', `' on ' || a.attname`, 'relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0', 'a.attacl', 'r.relowner')}
union all ${rights('f.name', `''`, 'functions f', `coalesce(f.proacl, acldefault('f', f.proowner))`, 'f.proowner')}
union all ${rights(`'schema ' || n.name`, `''`, 'schemas n', 'n.nspacl', 'n.nspowner')}`;

const Rows = z.array(z.object({ object: z.string(), part: z.string(), definition: z.string() }));

/**
 * Reads what the schemas `public` and `event_log` contain, and which rights the roles of the service
 * and everyone (`PUBLIC`) have on it. Members of extensions are left out.
 * @param db a handle in any role
 */
export async function readObjects(db: Queryable): Promise<SchemaObjects> {
  const { rows } = await db.query(OBJECTS_SQL, [DATABASE_ROLES]);
  const objects = new Map<string, Map<string, string>>();
  for (const { object, part, definition } of Rows.parse(rows)) {
    const parts = objects.get(object) ?? new Map<string, string>();
    objects.set(object, parts.set(part, definition));
  }
  return objects;
}
