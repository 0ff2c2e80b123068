import { CreateExportRequest, EvidenceExportAnswer, S2sExportParams } from '../../../schemas/api/panel/exports.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import {
  auditDetails,
  type CreateExportOptions,
  createExport,
  exportFilter,
  findPackage,
  readExport,
} from '../../evidence/exports/index.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { withTransaction } from '../../platform/database/pool.js';
import { type ToolCaller, userOf } from '../server/caller.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { BACKEND } from '../server/operation.js';
import { routesWith } from '../server/route.js';
import { type SendPackageOptions, sendPackage } from '../server/send-package.js';

export interface EvidenceExportDeps extends SendPackageOptions, CreateExportOptions {
  readonly admission: Pick<Admission, 'useNonce'>;
}

const route = routesWith<EvidenceExportDeps>();

const SHOWN_EXPORT: JsonObject = {
  data: {
    id: EXAMPLE_VALUES.exportId,
    site_id: SHOWN.siteId,
    state: 'queued',
    reason: null,
    requested_by: { user_id: SHOWN.userId, channel: 's2s' },
    requested_at: SHOWN.createdAt,
    ended_at: null,
    expires_at: null,
    filter: {
      from: '2026-01-01T00:00:00.000Z',
      to: null,
      consent_type: 'cookie',
      document_version_id: null,
      records: null,
      by_visitor: false,
    },
    disclose: ['signer_email'],
    progress: null,
    package: null,
    filter_disclosures: [],
  },
};

/** What the operations on one export share. */
const one = {
  auth: 'tool',
  roles: BACKEND,
  tag: 'Evidence exports',
  params: S2sExportParams,
  invalidParams: 'RESOURCE_NOT_FOUND',
} as const;

/**
 * Queues an evidence export of the key's site, and serves its state and its package: the exports of
 * the panel, for backends.
 */
export const EVIDENCE_EXPORT_OPERATIONS = [
  route({
    auth: 'signed',
    id: 'exportEvidenceS2s',
    method: 'post',
    path: '/tool/v1/s2s/evidence-exports',
    tag: 'Evidence exports',
    summary: 'Start an evidence export: the service builds a package that anyone can verify offline',
    description:
      'The package discloses no personal value unless `disclose` names it. It is as of the newest stamped checkpoint; consents that are not stamped yet are counted, but not in the package. An erasure at the site cancels each of its exports that is queued, running or stored.',
    roles: BACKEND,
    body: CreateExportRequest,
    status: 202,
    response: EvidenceExportAnswer,
    errors: ['TEST_KEY_REFUSED', 'EXPORT_LIMIT_EXCEEDED', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: { filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' }, disclose: ['signer_email'] },
      response: SHOWN_EXPORT,
    },
    action: 'export.create',
    handle: async ({ caller, signed, body }, deps) => {
      await deps.admission.useNonce(signed);
      const request = body();
      const { siteId, tenantId } = caller.site;
      const { id: userId, role } = userOf(caller);
      const created = await withTransaction(deps.db, async (db) => {
        const author = { tenantId, siteId, userId, role, channel: 's2s' } as const;
        const data = await createExport(db, deps, author, request);
        await appendAuditEntry(db, {
          tenantId,
          actor: { kind: 'user', userId },
          action: 'export.create',
          subject: { kind: 'export', id: data.id },
          details: {
            site_id: siteId,
            api_key_id: caller.apiKey.id,
            ...auditDetails(exportFilter(request.filter), request.disclose, request.stated),
          },
        });
        return data;
      });
      return EvidenceExportAnswer.parse({ data: { ...created, filter_disclosures: [] } });
    },
  }),
  route({
    ...one,
    id: 'readEvidenceExportS2s',
    path: '/tool/v1/s2s/evidence-exports/{id}',
    summary: 'Get the state and progress of an evidence export',
    response: EvidenceExportAnswer,
    errors: ['TEST_KEY_REFUSED', 'RESOURCE_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.exportId }, response: SHOWN_EXPORT },
    handle: async ({ caller, params }, { db, keyring }) =>
      EvidenceExportAnswer.parse({ data: await readExport(db, keyring, idOf(caller, params)) }),
  }),
  route({
    ...one,
    id: 'downloadEvidenceExportS2s',
    path: '/tool/v1/s2s/evidence-exports/{id}/package',
    summary: 'Download the evidence package of a finished export',
    description:
      'A `Range` of one range returns 206. A response with fewer bytes than its `Content-Length` is not a complete package. Each download is in the audit log.',
    download: { mediaType: 'application/zip', description: 'An evidence package (docs/evidence-format.md).' },
    headers: {
      'Repr-Digest': 'SHA-256 of the whole package (RFC 9530).',
      ETag: 'For `If-Range`.',
    },
    errors: ['TEST_KEY_REFUSED', 'RESOURCE_NOT_FOUND', 'EXPORT_NOT_FINISHED', 'EXPORT_GONE', 'RANGE_NOT_SATISFIABLE'],
    example: { path: { id: EXAMPLE_VALUES.exportId } },
    action: 'export.download',
    handle: async ({ caller, params, reply }, deps) => {
      const id = idOf(caller, params);
      const kept = await findPackage(deps.db, deps.keyring, id);
      await sendPackage(deps, reply, kept, () =>
        appendAuditEntry(deps.db, {
          tenantId: caller.site.tenantId,
          actor: { kind: 'user', userId: userOf(caller).id },
          action: 'export.download',
          subject: { kind: 'export', id: id.exportId },
          details: { site_id: id.siteId, channel: 's2s', api_key_id: caller.apiKey.id },
        }),
      );
      return reply;
    },
  }),
];

function idOf({ site }: ToolCaller, { id }: { readonly id: string }) {
  return { siteId: site.siteId, exportId: id };
}
