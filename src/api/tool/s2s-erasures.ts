import type * as z from 'zod';
import type { ErasureReceiptResponse, S2sErasureRequest } from '../../../schemas/api/erasures.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { DEFAULT_EXPORT_PAGE, type ErasureListQuery, type ExportedErasure } from '../../../schemas/api/export.js';
import { eraseForTestKey, orderErasure, readErasure, shownReceipt, subjectOf } from '../../erasure/index.js';
import { lastShownRevision, revisionOfCursor, selectErasures } from '../../evidence/records/selection.js';
import { erasedTestRecords, exportedErasure, exportedTestErasure } from '../../evidence/records/test-records.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import { userOf } from '../server/caller.js';
import { eraseS2s, listErasuresS2s, readErasureS2s } from './operations/erasures.js';
import { reads, type SignedCall, type ToolRoute, writes } from './route.js';

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
  const receipt = async (siteId: string, id: string, table?: 'test_erasures'): Promise<ErasureReceiptResponse> => {
    const erasure = await readErasure(db, siteId, id, table);
    if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return { data: await shownReceipt(db, erasure, backupRetentionDays) };
  };
  /** Uses up the nonce first, as for every signed request. */
  const orderOf = async ({ caller, signed, body }: SignedCall<unknown, unknown, S2sErasureRequest>) => {
    await admission.useNonce(signed);
    const request = body();
    const { idempotency_key: idempotencyKey } = request;
    return { siteId: caller.site.siteId, by: subjectOf(request), channel: 's2s', idempotencyKey } as const;
  };
  return [
    writes(
      eraseS2s,
      async (call) => {
        const order = await orderOf(call);
        const recorded = await orderErasure(db, keyring, order, { kind: 'user', userId: userOf(call.caller).id });
        return receipt(order.siteId, recorded.request.id);
      },
      async (call) => {
        const order = await orderOf(call);
        return receipt(order.siteId, await eraseForTestKey(db, keyring, order), 'test_erasures');
      },
    ),
    reads(
      listErasuresS2s,
      async ({ caller, query }) => {
        const { siteId } = caller.site;
        const { limit, after } = pageOf(query);
        const upTo = await lastShownRevision(db, siteId);
        const data: ExportedErasure[] = [];
        for await (const page of selectErasures(db, siteId, { after, upTo })) {
          data.push(...page.map(exportedErasure));
          if (data.length > limit) break;
        }
        return listOf(data, limit);
      },
      async ({ caller, query }) => {
        const { limit, after } = pageOf(query);
        const erased = await erasedTestRecords(db, caller.site.siteId, after, limit + 1);
        return listOf(erased.map(exportedTestErasure), limit);
      },
    ),
    reads(
      readErasureS2s,
      async ({ caller, params }) => receipt(caller.site.siteId, params.id),
      async ({ caller, params }) => receipt(caller.site.siteId, params.id, 'test_erasures'),
    ),
  ];
}

function pageOf({ limit = DEFAULT_EXPORT_PAGE, cursor }: z.infer<typeof ErasureListQuery>) {
  return { limit, after: cursor === undefined ? -1 : revisionOfCursor(cursor) };
}

/** @param data more than `limit` if there is a further page */
function listOf(data: readonly ExportedErasure[], limit: number) {
  const next_cursor = data.length > limit ? (data[limit - 1]?.cursor ?? null) : null;
  return { data: data.slice(0, limit), next_cursor };
}
