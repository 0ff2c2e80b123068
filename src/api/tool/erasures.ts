import type * as z from 'zod';
import {
  ErasureParams,
  type ErasureReceiptResponse,
  S2sErasureReceiptResponse,
  S2sErasureRequest,
} from '../../../schemas/api/erasures.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  DEFAULT_EXPORT_PAGE,
  ErasureListQuery,
  ErasureListResponse,
  type ExportedErasure,
} from '../../../schemas/api/export.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { eraseForTestKey, orderErasure, readErasure, shownReceipt, subjectOf } from '../../erasure/index.js';
import { lastShownRevision, revisionOfCursor, selectErasures } from '../../evidence/records/selection.js';
import { erasedTestRecords, exportedErasure, exportedTestErasure } from '../../evidence/records/test-records.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import { userOf } from '../server/caller.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { BACKEND } from '../server/operation.js';
import { routesWith, type SignedCall } from '../server/route.js';

export interface ErasureDeps {
  readonly admission: Pick<Admission, 'useNonce'>;
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly keyring: Pick<Keyring, 'siteKey'>;
  /** Null if it is unknown. */
  readonly backupRetentionDays: number | null;
}

const route = routesWith<ErasureDeps>();

const SHOWN_RECEIPT: JsonObject = {
  data: {
    id: EXAMPLE_VALUES.erasureId,
    site_id: SHOWN.siteId,
    state: 'finished',
    reason: 'person',
    by: 'visitor_id',
    record_id: null,
    older_than: null,
    channel: 's2s',
    requested_at: SHOWN.createdAt,
    finished_at: SHOWN.createdAt,
    erased_records: 3,
    unannounced_records: 0,
    deleted_approval_tokens: 0,
    cancelled_exports: 0,
    destroyed_packages: 0,
    announcements: [
      {
        event_id: SHOWN.consentId,
        state: 'stamped',
        batch: 17,
        checkpoint_size: 18,
        stamped_time: SHOWN.createdAt,
      },
    ],
    has_more_announcements: false,
    remains: {
      keys_sampled: false,
      scrubbed_at: null,
      backup_retention_days: 35,
      backups_until: SHOWN.validUntil,
    },
    statement: ['The keys of the erased values are destroyed.'],
  },
};

/** Requests an erasure, and serves its receipt, for backends. */
export const S2S_ERASURE_OPERATIONS = [
  route({
    auth: 'signed',
    id: 'eraseS2s',
    method: 'post',
    path: '/tool/v1/s2s/erasures',
    tag: 'Erasures',
    summary: 'Erase the personal data of a person or of one record, permanently',
    description:
      'The service carries the erasure out within moments: read the receipt until its `state` is `finished`. An unknown person or record is no error; its receipt counts 0 records. Send a random `idempotency_key` for each erasure, and the same key in each retry.',
    roles: BACKEND,
    body: S2sErasureRequest,
    bodyLimit: 4_096,
    status: 202,
    response: S2sErasureReceiptResponse,
    errors: ['ADMISSION_UNAVAILABLE'],
    example: {
      body: {
        subject: { by: 'visitor_id', value: 'visitor-0815' },
        idempotency_key: '5b0f6d7a-3c1e-4a52-9d0e-7f0c1d2e3f40',
      },
      response: SHOWN_RECEIPT,
    },
    action: 'erasure.create',
    handle: async (call, deps) => {
      const order = await orderOf(call, deps);
      const recorded = await orderErasure(deps.db, deps.keyring, order, {
        kind: 'user',
        userId: userOf(call.caller).id,
      });
      return receipt(deps, order.siteId, recorded.request.id);
    },
    handleTest: async (call, deps) => {
      const order = await orderOf(call, deps);
      return receipt(deps, order.siteId, await eraseForTestKey(deps.db, deps.keyring, order), 'test_erasures');
    },
  }),
  route({
    auth: 'tool',
    id: 'listErasuresS2s',
    path: '/tool/v1/s2s/erasures',
    tag: 'Erasures',
    summary: 'List the erased records of the site, for copies of them',
    description:
      'A client that keeps a copy of records reads this list to its end at intervals, and deletes the personal values of each record that it names. Erasures come in the order of their announcement in the log, within `ERASURE_ANNOUNCE_INTERVAL_SECONDS` of the erasure and in a random order among those announced together, so that the list links no two records of a person. Pass `next_cursor` as `cursor` until it is null, and the `cursor` of the last erasure the next time. It lists all erasures, those by a person, by a record and by age.',
    roles: BACKEND,
    query: ErasureListQuery,
    response: ErasureListResponse,
    example: {
      query: { limit: '500' },
      response: {
        data: [
          {
            erased_record: { id: SHOWN.consentId, consent_token: EXAMPLE_VALUES.consentToken },
            announced_at: SHOWN.createdAt,
            cursor: 'djE6NDI',
          },
        ],
        next_cursor: null,
      },
    },
    handle: async ({ caller, query }, { db }) => {
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
    handleTest: async ({ caller, query }, { db }) => {
      const { limit, after } = pageOf(query);
      const erased = await erasedTestRecords(db, caller.site.siteId, after, limit + 1);
      return listOf(erased.map(exportedTestErasure), limit);
    },
  }),
  route({
    auth: 'tool',
    id: 'readErasureS2s',
    path: '/tool/v1/s2s/erasures/{id}',
    tag: 'Erasures',
    summary: 'Get the receipt of an erasure',
    roles: BACKEND,
    params: ErasureParams,
    invalidParams: 'RESOURCE_NOT_FOUND',
    response: S2sErasureReceiptResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.erasureId }, response: SHOWN_RECEIPT },
    handle: async ({ caller, params }, deps) => receipt(deps, caller.site.siteId, params.id),
    handleTest: async ({ caller, params }, deps) => receipt(deps, caller.site.siteId, params.id, 'test_erasures'),
  }),
];

async function receipt(
  { db, backupRetentionDays }: ErasureDeps,
  siteId: string,
  id: string,
  table?: 'test_erasures',
): Promise<ErasureReceiptResponse> {
  const erasure = await readErasure(db, siteId, id, table);
  if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
  return { data: await shownReceipt(db, erasure, backupRetentionDays) };
}

/** Uses up the nonce first, as for every signed request. */
async function orderOf(
  { caller, signed, body }: SignedCall<unknown, unknown, S2sErasureRequest>,
  { admission }: ErasureDeps,
) {
  await admission.useNonce(signed);
  const request = body();
  const { idempotency_key: idempotencyKey } = request;
  return { siteId: caller.site.siteId, by: subjectOf(request), channel: 's2s', idempotencyKey } as const;
}

function pageOf({ limit = DEFAULT_EXPORT_PAGE, cursor }: z.infer<typeof ErasureListQuery>) {
  return { limit, after: cursor === undefined ? -1 : revisionOfCursor(cursor) };
}

/** @param data one more item than `limit` if there is a further page */
function listOf(data: readonly ExportedErasure[], limit: number) {
  const next_cursor = data.length > limit ? (data[limit - 1]?.cursor ?? null) : null;
  return { data: data.slice(0, limit), next_cursor };
}
