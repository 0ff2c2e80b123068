import * as z from 'zod';
import { AuditLogEntry, AuditLogQuery } from '../../../schemas/api/panel/audit-log.js';
import { pageOf } from '../../../schemas/api/panel/common.js';
import type { Queryable } from '../../platform/database/pool.js';
import { OVERSEERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, pageOfRows } from './page.js';

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
  return pageOfRows(
    query,
    z.array(AuditRow).parse(rows),
    ({ seq }) => [seq],
    (row) => ({
      seq: row.seq,
      at: row.at.toISOString(),
      actor: { kind: row.actor_kind, user_id: row.actor_id },
      action: row.action,
      subject: { kind: row.subject_kind, id: row.subject_id },
      details: row.details,
    }),
  );
}
