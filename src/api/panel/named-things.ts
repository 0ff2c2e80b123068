import * as z from 'zod';
import { NAMED_KINDS, type NamedKind, type NamedThing } from '../../../schemas/api/panel/named-things.js';
import type { Queryable } from '../../platform/database/pool.js';

/** $1 is the tenant. */
const OF_SITE = 'join sites s on s.id = t.site_id and s.tenant_id = $1';

interface Source {
  /** SQL of the name. */
  readonly name: string;
  readonly from: string;
  readonly siteId: string;
  readonly documentId?: string;
  /** SQL of the id, if it is another column. */
  readonly id?: string;
}

const SOURCES: Readonly<Record<NamedKind, Source>> = {
  api_key: { name: 't.name', from: `api_keys t ${OF_SITE}`, siteId: 't.site_id' },
  consent: { id: 't.event_id', name: 'null', from: `read_model.consents t ${OF_SITE}`, siteId: 't.site_id' },
  document: { name: 't.slug', from: `documents t ${OF_SITE}`, siteId: 't.site_id' },
  document_version: {
    name: "concat_ws(' ', t.title, t.number)",
    from: `document_versions t ${OF_SITE}`,
    siteId: 't.site_id',
    documentId: 't.document_id',
  },
  erasure: { name: 'null', from: `erasure_requests t ${OF_SITE}`, siteId: 't.site_id' },
  export: { name: 'null', from: `exports t ${OF_SITE}`, siteId: 't.site_id' },
  invitation: {
    name: 't.email',
    from: 'invitations t join tenants s on s.id = t.tenant_id and s.id = $1',
    siteId: 'null',
  },
  site: { name: 't.name', from: `sites t join tenants s on s.id = t.tenant_id and s.id = $1`, siteId: 't.id' },
  tenant: { name: 't.name', from: 'tenants t join tenants s on s.id = t.id and s.id = $1', siteId: 'null' },
  user: { name: 't.email', from: 'users t join tenants s on s.id = t.tenant_id and s.id = $1', siteId: 'null' },
  // The path of a URL can be a secret.
  webhook: { name: "substring(t.url from '^[a-z]+://([^/?#]+)')", from: `webhooks t ${OF_SITE}`, siteId: 't.site_id' },
};

/** Kinds whose names a user chooses, so that words can occur in them. */
const NAMED_BY_USERS: readonly NamedKind[] = ['api_key', 'document', 'site', 'user', 'webhook', 'invitation'];

const Rows = z.array(
  z.object({
    id: z.string(),
    kind: z.enum(NAMED_KINDS),
    name: z.string().nullable(),
    site_id: z.string().nullable(),
    document_id: z.string().nullable(),
  }),
);

/** A condition on the rows of each kind, by the SQL of their id and their name. */
type Condition = (source: Required<Pick<Source, 'id' | 'name'>>) => string;

/** The ids are $2. */
export const byId: Condition = ({ id }) => `${id} = any($2::uuid[])`;

/** The statement that reads the things of tenant $1 of these kinds, at least one. */
export function thingsSql(kinds: readonly NamedKind[], condition: Condition): string {
  return kinds
    .map((kind) => {
      const { id = 't.id', name, from, siteId, documentId = 'null' } = SOURCES[kind];
      return `select ${id} as id, '${kind}' as kind, ${name}::text as name, ${siteId}::uuid as site_id, ${documentId}::uuid as document_id
                from ${from} where ${condition({ id, name })}`;
    })
    .join(' union all ');
}

/**
 * Returns the things of a tenant with these ids, each found by the primary key of its table. Names are for display, and
 * not checked against the seals of their rows.
 * @param kinds kinds that the caller may see
 */
export async function thingsById(
  db: Queryable,
  tenantId: string,
  kinds: readonly NamedKind[],
  ids: readonly string[],
): Promise<NamedThing[]> {
  if (ids.length === 0 || kinds.length === 0) return [];
  const { rows } = await db.query(thingsSql(kinds, byId), [tenantId, ids]);
  return Rows.parse(rows);
}

/** Things whose names have a word, at most: each value of each entry is compared with all of them. */
const MOST_NAMED = 100;

/** Returns the ids of the things of a tenant whose name has the text. @param pattern for `ilike` */
export async function idsByName(db: Queryable, tenantId: string, pattern: string): Promise<readonly string[]> {
  const { rows } = await db.query(
    `${thingsSql(NAMED_BY_USERS, ({ name }) => `${name} ilike $2`)} order by id desc limit ${MOST_NAMED}`,
    [tenantId, pattern],
  );
  return Rows.parse(rows).map(({ id }) => id);
}
