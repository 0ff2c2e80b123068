import { EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
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
import { type SendPackageOptions, sendPackage } from '../server/send-package.js';
import { downloadEvidenceExportS2s, exportEvidenceS2s, readEvidenceExportS2s } from './operations/evidence-exports.js';
import { reads, type ToolRoute, writes } from './route.js';

export interface EvidenceExportOptions extends SendPackageOptions, CreateExportOptions {
  readonly admission: Pick<Admission, 'useNonce'>;
}

/**
 * Queues an evidence export of the key's site, and serves its state and its package: the exports of
 * the panel, for backends.
 */
export function s2sEvidenceExportRoutes(options: EvidenceExportOptions): readonly ToolRoute[] {
  const { admission, db, keyring } = options;
  return [
    writes(exportEvidenceS2s, async ({ caller, signed, body }) => {
      await admission.useNonce(signed);
      const request = body();
      const { siteId, tenantId } = caller.site;
      const userId = userOf(caller).id;
      const created = await withTransaction(db, async (db) => {
        const author = { tenantId, siteId, userId, channel: 's2s' } as const;
        const data = await createExport(db, options, author, request);
        await appendAuditEntry(db, {
          tenantId,
          actor: { kind: 'user', userId },
          action: 'export.create',
          subject: { kind: 'export', id: data.id },
          details: {
            site_id: siteId,
            api_key_id: caller.apiKey.id,
            ...auditDetails(exportFilter(request.filter), request.disclose),
          },
        });
        return data;
      });
      return EvidenceExportAnswer.parse({ data: { ...created, filter_disclosures: [] } });
    }),
    reads(readEvidenceExportS2s, async ({ caller, params }) =>
      EvidenceExportAnswer.parse({ data: await readExport(db, keyring, idOf(caller, params)) }),
    ),
    reads(downloadEvidenceExportS2s, async ({ caller, params, reply }) => {
      const id = idOf(caller, params);
      const kept = await findPackage(db, keyring, id);
      await sendPackage(options, reply, kept, () =>
        appendAuditEntry(db, {
          tenantId: caller.site.tenantId,
          actor: { kind: 'user', userId: userOf(caller).id },
          action: 'export.download',
          subject: { kind: 'export', id: id.exportId },
          details: { site_id: id.siteId, channel: 's2s', api_key_id: caller.apiKey.id },
        }),
      );
      return reply;
    }),
  ];
}

function idOf({ site }: ToolCaller, { id }: { readonly id: string }) {
  return { siteId: site.siteId, exportId: id };
}
