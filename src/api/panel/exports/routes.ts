import * as z from 'zod';
import { Uuid } from '../../../../schemas/evidence/primitives.js';
import * as exports from '../../../evidence/exports/index.js';
import { appendAuditEntry } from '../../../platform/audit-log.js';
import { sendPackage } from '../../server/send-package.js';
import { actorOf, signedIn } from '../caller.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, downloads, type PanelRoute, reads } from '../route.js';
import { cancelExport, createExport, deleteExport, downloadExport, listExports, readExport } from './operations.js';

const ExportCursor = z.tuple([Uuid]);

/**
 * Every export is found by its site and its id together. A download has its line of the audit log
 * before the first byte is sent.
 */
export function exportRoutes({ apiPool, keyring, config, logger }: PanelRoutesOptions): readonly PanelRoute[] {
  const { maxPerTenant } = config.exports;
  return [
    changes(createExport, async ({ user, params, body }, db) => {
      const author = {
        tenantId: user.tenantId,
        siteId: params.site_id,
        userId: signedIn(user).id,
        channel: 'panel',
      } as const;
      const data = await exports.createExport(db, { keyring, maxPerTenant }, author, body);
      return {
        response: { data },
        subject: { kind: 'export', id: data.id },
        details: { site_id: params.site_id, ...exports.auditDetails(exports.exportFilter(body.filter), body.disclose) },
      };
    }),
    reads(listExports, async ({ params, query }) => {
      const [before] = keyOfCursor(ExportCursor, query) ?? [null];
      const rows = await exports.listExports(apiPool, params.site_id, before, query.limit);
      return pageOfRows(query, rows, ({ id }) => [id], exports.shownExport);
    }),
    reads(readExport, async ({ params }) => ({
      data: await exports.readExport(apiPool, keyring, idOf(params)),
    })),
    downloads(downloadExport, async ({ user, params }, reply) => {
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
    }),
    changes(cancelExport, async ({ params }, db) => ({
      response: { data: await exports.cancelExport(db, idOf(params)) },
      subject: { kind: 'export', id: params.export_id },
      details: { site_id: params.site_id },
    })),
    changes(deleteExport, async ({ params }, db) => {
      const data = await exports.deleteExport(db, idOf(params));
      return {
        response: { data },
        subject: { kind: 'export', id: params.export_id },
        details: { site_id: params.site_id, state: data.state },
      };
    }),
  ];
}

function idOf(params: { readonly site_id: string; readonly export_id: string }): exports.ExportId {
  return { siteId: params.site_id, exportId: params.export_id };
}
