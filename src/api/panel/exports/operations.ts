import { dataOf, NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  CreateExportRequest,
  EvidenceExport,
  EvidenceExportDetails,
  ExportParams,
} from '../../../../schemas/api/panel/exports.js';
import { operation, PROTECTORS } from '../operation.js';

const tag = 'Evidence exports';

export const createExport = operation({
  id: 'createExport',
  method: 'post',
  path: '/sites/{site_id}/exports',
  tag,
  summary: 'Export evidence: an evidence package is made in the background',
  description:
    'Filter and fields are those of `consent-ledger evidence export`. Nothing personal is disclosed unless `disclose` says so. The package is as of the newest stamped checkpoint; consents that are not stamped yet are counted, and not in it. An erasure at the site cancels every export of it that is queued, running or kept.',
  roles: PROTECTORS,
  params: SiteParams,
  query: None,
  body: CreateExportRequest,
  example: { filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' }, disclose: ['visitor_id'] },
  status: 202,
  response: dataOf(EvidenceExport),
  errors: ['EXPORT_LIMIT_EXCEEDED'],
  action: 'export.create',
});

export const listExports = operation({
  id: 'listExports',
  method: 'get',
  path: '/sites/{site_id}/exports',
  tag,
  summary: 'Exports of a site, newest first',
  roles: PROTECTORS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(EvidenceExport),
  errors: [],
  action: null,
});

export const readExport = operation({
  id: 'readExport',
  method: 'get',
  path: '/sites/{site_id}/exports/{export_id}',
  tag,
  summary: 'State and progress of an export',
  roles: PROTECTORS,
  params: ExportParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(EvidenceExportDetails),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const downloadExport = operation({
  id: 'downloadExport',
  method: 'get',
  path: '/sites/{site_id}/exports/{export_id}/package',
  tag,
  summary: 'The evidence package of a finished export',
  description:
    'With `Repr-Digest` (RFC 9530) and `ETag`; a `Range` of one range is answered 206. A connection that ends before `Content-Length` bytes is no package. Each download is a line of the audit log (`export.download`).',
  roles: PROTECTORS,
  params: ExportParams,
  query: None,
  body: NoBody,
  status: 200,
  response: None,
  download: { mediaType: 'application/zip', description: 'An evidence package (docs/evidence-format.md).' },
  errors: ['RESOURCE_NOT_FOUND', 'EXPORT_NOT_FINISHED', 'EXPORT_GONE', 'RANGE_NOT_SATISFIABLE'],
  action: 'export.download',
});

export const cancelExport = operation({
  id: 'cancelExport',
  method: 'post',
  path: '/sites/{site_id}/exports/{export_id}/cancel',
  tag,
  summary: 'Cancel an export that is queued or running',
  roles: PROTECTORS,
  params: ExportParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(EvidenceExport),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'export.cancel',
});

export const deleteExport = operation({
  id: 'deleteExport',
  method: 'delete',
  path: '/sites/{site_id}/exports/{export_id}',
  tag,
  summary: 'Delete an export and its package',
  description:
    'From then on nobody can read the package; one that is queued or running is cancelled. Answers with the export as it was.',
  roles: PROTECTORS,
  params: ExportParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(EvidenceExport),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'export.delete',
});

export const EXPORT_OPERATIONS = [createExport, listExports, readExport, downloadExport, cancelExport, deleteExport];
