import * as z from 'zod';
import {
  AuditLogEntry,
  AuditLogQuery,
  AuditLogSearchPage,
  SearchAuditLogRequest,
} from '../../../schemas/api/panel/audit-log.js';
import { pageOf } from '../../../schemas/api/panel/common.js';
import { NAMED_KINDS } from '../../../schemas/api/panel/named-things.js';
import type { Queryable } from '../../platform/database/pool.js';
import { OVERSEERS } from './caller.js';
import { route } from './deps.js';
import { idsByName, thingsById } from './named-things.js';
import { encodeCursor, keyOfCursor, type Page, pageOfRows } from './page.js';

/** The audit log of the caller's own tenant, which can only be read. */
export const AUDIT_LOG_OPERATIONS = [
  route({
    auth: 'panel',
    id: 'listAuditLog',
    path: '/api/v1/audit-log',
    tag: 'Audit log',
    summary: 'List changes and disclosures, newest first',
    description: 'The log is append-only. It identifies data subjects only by event ids.',
    roles: OVERSEERS,
    query: AuditLogQuery,
    response: pageOf(AuditLogEntry),
    handle: ({ user, query }, { apiPool }) => auditLogPage(apiPool, user.tenantId, query),
  }),
  route({
    auth: 'panel',
    id: 'searchAuditLog',
    method: 'post',
    path: '/api/v1/audit-log/search',
    tag: 'Audit log',
    summary: 'Search changes and disclosures, newest first, with the names of what they concern',
    description:
      'Changes nothing. A page can be short or empty although more entries follow: continue until `next_cursor` is null.',
    roles: OVERSEERS,
    // Operators have `admin audit-log`, also for changes of the installation.
    isForUsers: true,
    body: SearchAuditLogRequest,
    example: {
      body: { from: '2026-01-01T00:00:00Z', words: [{ text: 'shop', actions: ['site.create'], kinds: [] }], limit: 20 },
    },
    response: AuditLogSearchPage,
    handle: async ({ user, body, gone }, { apiPool, searches }) => {
      const read = () => searchAuditLog(apiPool, user.tenantId, body);
      // Words are compared with every value of the examined entries, which can take a second.
      const page = await (body.words.length === 0 ? read() : searches.take(user.tenantId, read, gone));
      return { ...page, named: await thingsById(apiPool, user.tenantId, NAMED_KINDS, idsIn(page.data)) };
    },
  }),
];

const AuditRow = z.object({
  seq: z.int(),
  at: z.date(),
  actor_kind: z.enum(['user', 'operator', 'service']),
  actor_id: z.string().nullable(),
  action: z.string(),
  subject_kind: z.string(),
  subject_id: z.string(),
  details: z.record(z.string(), z.json()),
});
const AuditCursor = z.tuple([z.int()]);

/**
 * A page of the audit log, newest first.
 * @param tenantId null, which only operators pass, selects the whole installation
 * @throws ApiError VALIDATION_ERROR
 */
export async function auditLogPage(
  db: Queryable,
  tenantId: string | null,
  query: z.output<typeof AuditLogQuery>,
): Promise<Page<z.infer<typeof AuditLogEntry>>> {
  const [before] = keyOfCursor(AuditCursor, query) ?? [null];
  const { rows } = await db.query(
    `select seq, at, actor_kind, actor_id, action, subject_kind, subject_id, details from audit_log
      where ($1::uuid is null or tenant_id = $1) and ($2::bigint is null or seq < $2)
        and ($3::text is null or action = $3) and ($4::uuid is null or actor_id = $4) and ($5::text is null or subject_id = $5)
        and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
      order by seq desc limit $8`,
    [
      tenantId,
      before,
      query.action ?? null,
      query.actor_user_id ?? null,
      query.subject_id ?? null,
      query.from === undefined ? null : new Date(query.from),
      query.to === undefined ? null : new Date(query.to),
      query.limit + 1,
    ],
  );
  return pageOfRows(query, z.array(AuditRow).parse(rows), ({ seq }) => [seq], shown);
}

function shown(row: z.infer<typeof AuditRow>): Entry {
  return {
    seq: row.seq,
    at: row.at.toISOString(),
    actor: { kind: row.actor_kind, user_id: row.actor_id },
    action: row.action,
    subject: { kind: row.subject_kind, id: row.subject_id },
    details: row.details,
  };
}

type Entry = z.infer<typeof AuditLogEntry>;

/** Entries that the first statement of a search examines, that a later one does at most, and one request in all. */
const WINDOW = { first: 1000, most: 10_000, ofRequest: 20_000 };

/**
 * Examines entries before $2, newest first, as many as $3, and returns those that match. Each row has also the number of
 * examined entries and the oldest of them; without a match, one row has these alone.
 */
const SEARCH_SQL = `
with examined as materialized (
  select seq, at, actor_kind, actor_id, action, subject_kind, subject_id, details from audit_log
   where tenant_id = $1 and ($2::bigint is null or seq < $2) order by seq desc limit $3),
found as (
  select * from examined e
   where ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5) and ($6::text is null or action = $6)
     and ($7::text is null or coalesce(actor_id::text, actor_kind) = $7)
     and ($8::text is null or subject_id = $8 or details ->> 'site_id' = $8)
     and not exists (
       select from jsonb_to_recordset($9::jsonb) as w (pattern text, actions text[], kinds text[], ids text[])
        where not coalesce(
          action ilike pattern or subject_id ilike pattern or action = any(actions) or subject_kind = any(kinds)
          or subject_id = any(ids) or actor_id::text = any(ids)
          or exists (select from jsonb_path_query(details, 'strict $.**') v
                      where jsonb_typeof(v) not in ('object', 'array') and (v #>> '{}' ilike pattern or v #>> '{}' = any(ids))),
          false)))
select x.examined, x.oldest, f.*
  from (select count(*)::int as examined, min(seq) as oldest from examined) x left join found f on true
 order by f.seq desc`;

const Examined = z.object({ examined: z.int(), oldest: z.int().nullable() });
const FoundRow = z.union([AuditRow.extend(Examined.shape), Examined.extend({ seq: z.null() })]);

/**
 * A page of the entries of a tenant that match, newest first. It is short, with a cursor, if the limit of examined
 * entries was reached.
 * @throws ApiError VALIDATION_ERROR
 */
async function searchAuditLog(
  db: Queryable,
  tenantId: string,
  query: z.output<typeof SearchAuditLogRequest>,
): Promise<Page<Entry>> {
  const words = await Promise.all(
    query.words.map(async ({ text, actions, kinds }) => {
      const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
      return { pattern, actions, kinds, ids: await idsByName(db, tenantId, pattern) };
    }),
  );
  const filter = [
    query.from === undefined ? null : new Date(query.from),
    query.to === undefined ? null : new Date(query.to),
    query.action ?? null,
    query.actor ?? null,
    query.site_id ?? null,
    JSON.stringify(words),
  ];
  const found: z.infer<typeof AuditRow>[] = [];
  let [before] = keyOfCursor(AuditCursor, query) ?? [null];
  let left = WINDOW.ofRequest;
  for (let window = WINDOW.first; left > 0; window = Math.min(window * 4, WINDOW.most, left)) {
    const { rows } = await db.query(SEARCH_SQL, [tenantId, before, window, ...filter]);
    const parsed = z.array(FoundRow).min(1).parse(rows);
    found.push(...parsed.filter((row) => row.seq !== null));
    if (found.length > query.limit) return pageOfRows(query, found, ({ seq }) => [seq], shown);
    const [{ examined, oldest } = { examined: 0, oldest: null }] = parsed;
    if (examined < window) return { data: found.map(shown), next_cursor: null };
    before = oldest;
    left -= window;
  }
  return { data: found.map(shown), next_cursor: before === null ? null : encodeCursor([before]) };
}

const Id = z.uuid();

/** The ids that entries name: actor, subject, and texts of the details that are no lists. */
function idsIn(entries: readonly Entry[]): readonly string[] {
  const texts = entries.flatMap(({ actor, subject, details }) => [
    actor.user_id,
    subject.id,
    ...Object.values(details).filter((value) => typeof value === 'string'),
  ]);
  return [...new Set(texts)].filter((text) => Id.safeParse(text).success).filter((text) => text !== null);
}
