import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import { CreateExportRequest, EvidenceExportAnswer, S2sExportParams } from '../../../../schemas/api/panel/exports.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../../server/example-values.js';
import { AnyQuery, defineOperation } from '../../server/operation.js';
import { BACKEND, SIGNED_BACKEND } from '../access.js';

const tag = 'Evidence exports';

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

export const exportEvidenceS2s = defineOperation({
  id: 'exportEvidenceS2s',
  method: 'post',
  path: '/tool/v1/s2s/evidence-exports',
  tag,
  summary: 'Start an evidence export: the service builds a package that anyone can verify offline',
  description:
    'The package discloses no personal value unless `disclose` names it. It is as of the newest stamped checkpoint; consents that are not stamped yet are counted, but not in the package. An erasure at the site cancels each of its exports that is queued, running or stored.',
  access: SIGNED_BACKEND,
  params: None,
  query: AnyQuery,
  body: CreateExportRequest,
  status: 202,
  response: EvidenceExportAnswer,
  errors: ['TEST_KEY_REFUSED', 'EXPORT_LIMIT_EXCEEDED', 'ADMISSION_UNAVAILABLE'],
  example: {
    body: { filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' }, disclose: ['signer_email'] },
    response: SHOWN_EXPORT,
  },
  action: 'export.create',
});

const one = {
  method: 'get',
  tag,
  access: BACKEND,
  params: S2sExportParams,
  invalidParams: 'RESOURCE_NOT_FOUND',
  query: AnyQuery,
  body: NoBody,
  status: 200,
} as const;

export const readEvidenceExportS2s = defineOperation({
  ...one,
  id: 'readEvidenceExportS2s',
  path: '/tool/v1/s2s/evidence-exports/{id}',
  summary: 'Get the state and progress of an evidence export',
  response: EvidenceExportAnswer,
  errors: ['TEST_KEY_REFUSED', 'RESOURCE_NOT_FOUND'],
  example: { path: { id: EXAMPLE_VALUES.exportId }, response: SHOWN_EXPORT },
  action: null,
});

export const downloadEvidenceExportS2s = defineOperation({
  ...one,
  id: 'downloadEvidenceExportS2s',
  path: '/tool/v1/s2s/evidence-exports/{id}/package',
  summary: 'Download the evidence package of a finished export',
  description:
    'A `Range` of one range returns 206. A response with fewer bytes than its `Content-Length` is not a complete package. Each download is in the audit log.',
  response: None,
  download: { mediaType: 'application/zip', description: 'An evidence package (docs/evidence-format.md).' },
  headers: {
    'Repr-Digest': 'SHA-256 of the whole package (RFC 9530).',
    ETag: 'For `If-Range`.',
  },
  errors: ['TEST_KEY_REFUSED', 'RESOURCE_NOT_FOUND', 'EXPORT_NOT_FINISHED', 'EXPORT_GONE', 'RANGE_NOT_SATISFIABLE'],
  example: { path: { id: EXAMPLE_VALUES.exportId } },
  action: 'export.download',
});

/** Operations by which a backend exports evidence. */
export const EVIDENCE_EXPORT_OPERATIONS = [exportEvidenceS2s, readEvidenceExportS2s, downloadEvidenceExportS2s];
