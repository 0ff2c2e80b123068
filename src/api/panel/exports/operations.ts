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
  summary: 'Start an evidence export: the service builds a package that anyone can verify offline',
  description:
    'Filter and fields are those of `consent-ledger evidence export`. The package discloses no personal value unless `disclose` names it. It is as of the newest stamped checkpoint; consents that are not stamped yet are counted, but not in the package. An erasure at the site cancels each of its exports that is queued, running or stored.',
  roles: PROTECTORS,
  params: SiteParams,
  query: None,
  body: CreateExportRequest,
  example: { filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' }, disclose: ['visitor_id'] },
  status: 202,
  response: dataOf(EvidenceExport),
  errors: ['EXPORT_LIMIT_EXCEEDED'],
  action: 'export.create',
  isForUsers: true,
});

export const listExports = operation({
  id: 'listExports',
  method: 'get',
  path: '/sites/{site_id}/exports',
  tag,
  summary: 'List the exports of a site, newest first',
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
  summary: 'Get the state and progress of an export',
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
  summary: 'Download the evidence package of a finished export',
  description:
    'The response has `Repr-Digest` (RFC 9530) and `ETag`; a `Range` of one range returns 206. A response with fewer bytes than its `Content-Length` is not a complete package.',
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
    'The package can no longer be downloaded; a queued or running export is cancelled. Returns the deleted export.',
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
