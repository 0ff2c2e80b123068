import type { ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { DEFAULT_EXPORT_PAGE, type ExportedErasure } from '../../../schemas/api/export.js';
import { type ErasureOrder, orderErasure, readErasure, shownReceipt, subjectOf } from '../../erasure/index.js';
import { revisionOfCursor } from '../../evidence/records/cursor.js';
import { exportedErasure } from '../../evidence/records/exported-erasure.js';
import { lastShownRevision, selectErasures } from '../../evidence/records/selection.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import { userOf } from '../server/caller.js';
import { eraseS2s, listErasuresS2s, readErasureS2s } from './operations/erasures.js';
import { reads, type ToolRoute, writes } from './route.js';

export interface S2sErasureOptions {
  readonly admission: Pick<Admission, 'useNonce'>;
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly keyring: Pick<Keyring, 'siteKey'>;
  /** Null: unknown. */
  readonly backupRetentionDays: number | null;
}

/** Requests an erasure, and serves its receipt, for backends. */
export function s2sErasureRoutes(options: S2sErasureOptions): readonly ToolRoute[] {
  const { admission, db, keyring, backupRetentionDays } = options;
  const receipt = async (siteId: string, id: string): Promise<ErasureReceiptResponse> => {
    const erasure = await readErasure(db, siteId, id);
    if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return { data: await shownReceipt(db, erasure, backupRetentionDays) };
  };
  return [
    writes(eraseS2s, async ({ caller, signed, body }) => {
      await admission.useNonce(signed);
      const request = body();
      const { siteId } = caller.site;
      const order: ErasureOrder = {
        siteId,
        by: subjectOf(request),
        channel: 's2s',
        idempotencyKey: request.idempotency_key,
      };
      const recorded = await orderErasure(db, keyring, order, { kind: 'user', userId: userOf(caller).id });
      return receipt(siteId, recorded.request.id);
    }),
    reads(listErasuresS2s, async ({ caller, query }) => {
      const { siteId } = caller.site;
      const { limit = DEFAULT_EXPORT_PAGE, cursor } = query;
      const after = cursor === undefined ? -1 : revisionOfCursor(cursor);
      const upTo = await lastShownRevision(db, siteId);
      const data: ExportedErasure[] = [];
      let last: ExportedErasure | null = null;
      for await (const page of selectErasures(db, siteId, { after, upTo })) {
        data.push(...page.map(exportedErasure));
        if (data.length > limit) {
          last = data[limit - 1] ?? null;
          break;
        }
      }
      return { data: data.slice(0, limit), next_cursor: last?.cursor ?? null };
    }),
    reads(readErasureS2s, async ({ caller, params }) => receipt(caller.site.siteId, params.id)),
  ];
}
