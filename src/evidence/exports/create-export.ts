import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import type { CreateExportRequest, EvidenceExport, EvidenceFilter } from '../../../schemas/api/panel/exports.js';
import type { ExportStatement } from '../../../schemas/evidence/manifest.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { queueExport } from '../../platform/export-states.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { Disclose, ExportFilter } from '../package/index.js';
import { exportKey, newExportSeed, sealSecret } from './export-key.js';
import { EXPORT_COLUMNS, ExportJobRow, shownExport } from './exports.js';

/** The user who requests an export, and the site. */
export interface ExportAuthor {
  readonly tenantId: string;
  readonly siteId: string;
  readonly userId: string;
  readonly role: ExportStatement['role'];
  readonly channel: 'panel' | 's2s';
}

export interface CreateExportOptions {
  readonly keyring: Pick<Keyring, 'siteKey'>;
  /** Maximum number of exports of a tenant that may be queued, running or kept. */
  readonly maxPerTenant: number;
}

/**
 * Queues an export.
 * @param db a handle in the role `consent_ledger_admin` or `consent_ledger_api`
 * @throws RequestRefused EXPORT_LIMIT_EXCEEDED; KeyError
 */
export async function createExport(
  db: Queryable,
  options: CreateExportOptions,
  author: ExportAuthor,
  { filter, disclose, stated }: CreateExportRequest,
): Promise<EvidenceExport> {
  const id = uuidV7();
  const seed = newExportSeed();
  const key = exportKey(await options.keyring.siteKey(author.siteId), seed, id);
  const { visitorId: visitor, ...kept } = exportFilter(filter);
  return withTransaction(db, async (db) => {
    await refuseExcess(db, author.tenantId, options.maxPerTenant);
    await queueExport(db, { id, siteId: author.siteId, requestedBy: exportedBy(author, id), seed });
    await db.query(
      `insert into export_jobs (export_id, tenant_id, site_id, requested_by, channel, filter, by_visitor, sealed_visitor, disclose, stated)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        id,
        author.tenantId,
        author.siteId,
        author.userId,
        author.channel,
        JSON.stringify(kept),
        visitor !== undefined,
        visitor === undefined ? null : sealSecret(key, id, 'visitor', visitor),
        JSON.stringify(disclose),
        stated === undefined ? null : JSON.stringify({ ...stated, role: author.role } satisfies ExportStatement),
      ],
    );
    const { rows } = await db.query(
      `select ${EXPORT_COLUMNS} from exports e join export_jobs j on j.export_id = e.id where e.id = $1`,
      [id],
    );
    return shownExport(z.tuple([ExportJobRow]).parse(rows)[0]);
  });
}

const CountRows = z.tuple([z.object({ count: z.int() })]);

/**
 * The lock serialises the requests of a tenant: otherwise two concurrent requests could both take
 * the last free place.
 */
async function refuseExcess(db: Queryable, tenantId: string, maxPerTenant: number): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('consent-ledger exports of ' || $1, 0))`, [tenantId]);
  const { rows } = await db.query(
    `select count(*) as count from export_jobs j join exports e on e.id = j.export_id
      where j.tenant_id = $1 and e.state in ('queued', 'running', 'finished') and e.seed is not null
        and (j.expires_at is null or j.expires_at > now())`,
    [tenantId],
  );
  if (CountRows.parse(rows)[0].count < maxPerTenant) return;
  throw new RequestRefused(
    'EXPORT_LIMIT_EXCEEDED',
    `The tenant has ${maxPerTenant} exports that are queued, running or kept, which is the limit. Delete one that is no longer needed.`,
  );
}

/** The author as the package names them. */
export function exportedBy({ channel, userId }: Pick<ExportAuthor, 'channel' | 'userId'>, exportId: string): string {
  return `${channel === 'panel' ? 'panel' : 'API'} user ${userId}, export ${exportId}`;
}

/** Converts the filter of a request to the filter of the exporter. */
export function exportFilter(filter: EvidenceFilter): ExportFilter {
  const { from, to, consent_type: consentType, document_version_id: documentVersionId, records, visitor_id } = filter;
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(consentType !== undefined && { consentType }),
    ...(documentVersionId !== undefined && { documentVersionId }),
    ...(records !== undefined && { eventIds: records }),
    ...(visitor_id !== undefined && { visitorId: visitor_id }),
  };
}

const NAMES: Readonly<Record<keyof ExportFilter, string>> = {
  from: 'from',
  to: 'to',
  consentType: 'consent_type',
  documentVersionId: 'document_version_id',
  eventIds: 'records',
  visitorId: 'visitor_id',
};

/**
 * The details of an export for the audit log: the names of the filter's fields, the listed records, the disclosure
 * choice, and the reason that the package states. They never contain the visitor.
 */
export function auditDetails(
  filter: ExportFilter,
  disclose: Disclose,
  stated?: Pick<ExportStatement, 'reason'>,
): JsonObject {
  const names = Object.entries(NAMES).filter(([member]) => Object.hasOwn(filter, member));
  return {
    filter: names.map(([, name]) => name),
    ...(filter.eventIds !== undefined && { records: filter.eventIds }),
    disclose,
    ...(stated !== undefined && { stated_reason: stated.reason }),
  };
}
