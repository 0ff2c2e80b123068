import * as z from 'zod';
import { dataOf, PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  EvidenceExport,
  EvidenceExportDetails,
  ExportParams,
  UserExportRequest,
} from '../../../schemas/api/panel/exports.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import * as exports from '../../evidence/exports/index.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { sendPackage } from '../server/send-package.js';
import { actorOf, PROTECTORS, signedIn } from './caller.js';
import { route } from './deps.js';
import { refuseNaming } from './disclosure-reason.js';
import { keyOfCursor, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Evidence exports', params: SiteParams } as const;
const one = { ...shared, params: ExportParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/**
 * An export is always looked up by its site and id together. A download is entered in the audit log before its first
 * byte is sent.
 */
export const EXPORT_OPERATIONS = [
  route({
    ...shared,
    id: 'createExport',
    method: 'post',
    path: '/api/v1/sites/{site_id}/exports',
    summary: 'Start an evidence export: the service builds a package that anyone can verify offline',
    description:
      'Filter and fields are those of `consent-ledger evidence export`. The package discloses no personal value unless `disclose` names it. It is as of the newest stamped checkpoint; consents that are not stamped yet are counted, but not in the package. An erasure at the site cancels each of its exports that is queued, running or stored.',
    roles: PROTECTORS,
    body: UserExportRequest,
    example: {
      body: {
        filter: { from: '2026-01-01T00:00:00Z', consent_type: 'cookie' },
        disclose: ['visitor_id'],
        reason: 'audit of the authority',
        stated: { reason: 'regulator_request' },
      },
    },
    status: 202,
    response: dataOf(EvidenceExport),
    errors: ['EXPORT_LIMIT_EXCEEDED'],
    action: 'export.create',
    isForUsers: true,
    change: async ({ user, params, body }, db, { keyring, config }) => {
      const { maxPerTenant } = config.exports;
      const { reason } = body;
      if (reason !== undefined) refuseNaming(reason, body.filter.visitor_id);
      const author = {
        tenantId: user.tenantId,
        siteId: params.site_id,
        userId: signedIn(user).id,
        role: user.role,
        channel: 'panel',
      } as const;
      const data = await exports.createExport(db, { keyring, maxPerTenant }, author, body);
      return {
        response: { data },
        subject: { kind: 'export', id: data.id },
        details: {
          site_id: params.site_id,
          ...exports.auditDetails(exports.exportFilter(body.filter), body.disclose, body.stated),
          ...(reason !== undefined && { reason }),
        },
      };
    },
  }),
  route({
    ...shared,
    id: 'listExports',
    path: '/api/v1/sites/{site_id}/exports',
    summary: 'List the exports of a site, newest first',
    roles: PROTECTORS,
    query: PageQuery,
    response: pageOf(EvidenceExport),
    handle: async ({ params, query }, { apiPool }) => {
      const [before] = keyOfCursor(ExportCursor, query) ?? [null];
      const rows = await exports.listExports(apiPool, params.site_id, before, query.limit);
      return pageOfRows(query, rows, ({ id }) => [id], exports.shownExport);
    },
  }),
  route({
    ...one,
    id: 'readExport',
    path: '/api/v1/sites/{site_id}/exports/{export_id}',
    summary: 'Get the state and progress of an export',
    roles: PROTECTORS,
    response: dataOf(EvidenceExportDetails),
    handle: async ({ params }, { apiPool, keyring }) => ({
      data: await exports.readExport(apiPool, keyring, idOf(params)),
    }),
  }),
  route({
    ...one,
    id: 'downloadExport',
    path: '/api/v1/sites/{site_id}/exports/{export_id}/package',
    summary: 'Download the evidence package of a finished export',
    description:
      'The response has `Repr-Digest` (RFC 9530) and `ETag`; a `Range` of one range returns 206. A response with fewer bytes than its `Content-Length` is not a complete package.',
    roles: PROTECTORS,
    download: { mediaType: 'application/zip', description: 'An evidence package (docs/evidence-format.md).' },
    errors: ['RESOURCE_NOT_FOUND', 'EXPORT_NOT_FINISHED', 'EXPORT_GONE', 'RANGE_NOT_SATISFIABLE'],
    action: 'export.download',
    handle: async ({ user, params, reply }, { apiPool, keyring, logger }) => {
      const kept = await exports.findPackage(apiPool, keyring, idOf(params));
      await sendPackage({ db: apiPool, logger }, reply, kept, () =>
        appendAuditEntry(apiPool, {
          tenantId: user.tenantId,
          actor: actorOf(user),
          action: 'export.download',
          subject: { kind: 'export', id: params.export_id },
          details: { site_id: params.site_id, channel: 'panel' },
        }),
      );
      return reply;
    },
  }),
  route({
    ...one,
    id: 'cancelExport',
    method: 'post',
    path: '/api/v1/sites/{site_id}/exports/{export_id}/cancel',
    summary: 'Cancel an export that is queued or running',
    roles: PROTECTORS,
    response: dataOf(EvidenceExport),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'export.cancel',
    change: async ({ params }, db) => ({
      response: { data: await exports.cancelExport(db, idOf(params)) },
      subject: { kind: 'export', id: params.export_id },
      details: { site_id: params.site_id },
    }),
  }),
  route({
    ...one,
    id: 'deleteExport',
    method: 'delete',
    path: '/api/v1/sites/{site_id}/exports/{export_id}',
    summary: 'Delete an export and its package',
    description:
      'The package can no longer be downloaded; a queued or running export is cancelled. Returns the deleted export.',
    roles: PROTECTORS,
    response: dataOf(EvidenceExport),
    action: 'export.delete',
    change: async ({ params }, db) => {
      const data = await exports.deleteExport(db, idOf(params));
      return {
        response: { data },
        subject: { kind: 'export', id: params.export_id },
        details: { site_id: params.site_id, state: data.state },
      };
    },
  }),
];

const ExportCursor = z.tuple([Uuid]);

function idOf(params: { readonly site_id: string; readonly export_id: string }): exports.ExportId {
  return { siteId: params.site_id, exportId: params.export_id };
}
