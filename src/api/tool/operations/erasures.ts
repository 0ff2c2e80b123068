import { ErasureParams, S2sErasureReceiptResponse, S2sErasureRequest } from '../../../../schemas/api/erasures.js';
import { ErasureListQuery, ErasureListResponse } from '../../../../schemas/api/export.js';
import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../../server/example-values.js';
import { AnyQuery, defineOperation } from '../../server/operation.js';
import { BACKEND, SIGNED_BACKEND } from '../access.js';

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

export const eraseS2s = defineOperation({
  id: 'eraseS2s',
  method: 'post',
  path: '/tool/v1/s2s/erasures',
  tag: 'Erasures',
  summary: 'Erase the personal data of a person or of one record, permanently',
  description:
    'The service carries the erasure out within moments: read the receipt until its `state` is `finished`. An unknown person or record is no error; its receipt counts 0 records. Send a random `idempotency_key` for each erasure, and the same key in each retry.',
  access: SIGNED_BACKEND,
  params: None,
  query: AnyQuery,
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
});

export const listErasuresS2s = defineOperation({
  id: 'listErasuresS2s',
  method: 'get',
  path: '/tool/v1/s2s/erasures',
  tag: 'Erasures',
  summary: 'List the erased records of the site, for copies of them',
  description:
    'A client that keeps a copy of records reads this list to its end at intervals, and deletes the personal values of each record that it names. Erasures come in the order of their announcement in the log, within `ERASURE_ANNOUNCE_INTERVAL_SECONDS` of the erasure and in a random order among those announced together, so that the list links no two records of a person. Pass `next_cursor` as `cursor` until it is null, and the `cursor` of the last erasure the next time. It lists all erasures, those by a person, by a record and by age.',
  access: BACKEND,
  params: None,
  query: ErasureListQuery,
  body: NoBody,
  status: 200,
  response: ErasureListResponse,
  errors: [],
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
  action: null,
});

export const readErasureS2s = defineOperation({
  id: 'readErasureS2s',
  method: 'get',
  path: '/tool/v1/s2s/erasures/{id}',
  tag: 'Erasures',
  summary: 'Get the receipt of an erasure',
  access: BACKEND,
  params: ErasureParams,
  invalidParams: 'RESOURCE_NOT_FOUND',
  query: AnyQuery,
  body: NoBody,
  status: 200,
  response: S2sErasureReceiptResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  example: { path: { id: EXAMPLE_VALUES.erasureId }, response: SHOWN_RECEIPT },
  action: null,
});

/** Operations by which a backend erases personal data. */
export const S2S_ERASURE_OPERATIONS = [eraseS2s, listErasuresS2s, readErasureS2s];
