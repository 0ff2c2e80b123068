import { S2sExportParams } from '../../../schemas/api/panel/exports.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { WITH_BODY } from './error-groups.js';
import type { Download, Operation } from './operation.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

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

/** The routes by which a backend exports evidence. */
export const EXPORT_OPERATIONS: readonly Operation[] = [
  {
    id: 'exportEvidenceS2s',
    method: 'post',
    path: '/tool/v1/s2s/evidence-exports',
    summary: 'Export evidence: a package that anyone can verify offline is made in the background',
    description:
      'Nothing personal is disclosed unless `disclose` says so. The package is as of the newest stamped checkpoint; consents that are not stamped yet are counted, and not in it. An erasure at the site cancels every export of it that is queued, running or kept.',
    access: 'signed key and bearer',
    body: 'CreateExportRequest',
    status: 202,
    response: 'EvidenceExportAnswer',
    errors: [...WITH_BODY, 'EXPORT_LIMIT_EXCEEDED', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: { filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' }, disclose: ['signer_email'] },
      response: SHOWN_EXPORT,
    },
  },
  {
    id: 'readEvidenceExportS2s',
    method: 'get',
    path: '/tool/v1/s2s/evidence-exports/{id}',
    summary: 'State and progress of an export',
    access: 'key and bearer',
    pathParameters: S2sExportParams,
    status: 200,
    response: 'EvidenceExportAnswer',
    errors: ['RESOURCE_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.exportId }, response: SHOWN_EXPORT },
  },
];

/** The package itself. */
export const EXPORT_DOWNLOADS: readonly Download[] = [
  {
    id: 'downloadEvidenceExportS2s',
    method: 'get',
    path: '/tool/v1/s2s/evidence-exports/{id}/package',
    summary: 'The evidence package of a finished export',
    description:
      'A `Range` of one range is answered 206. A connection that ends before `Content-Length` bytes is no package. Each download is in the audit log.',
    access: 'key and bearer',
    pathParameters: S2sExportParams,
    file: { mediaType: 'application/zip', description: 'An evidence package (docs/evidence-format.md).' },
    headers: {
      'Repr-Digest': 'SHA-256 of the whole package (RFC 9530).',
      ETag: 'For `If-Range`.',
    },
    errors: ['RESOURCE_NOT_FOUND', 'EXPORT_NOT_FINISHED', 'EXPORT_GONE', 'RANGE_NOT_SATISFIABLE'],
    example: { path: { id: EXAMPLE_VALUES.exportId } },
  },
];
