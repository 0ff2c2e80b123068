import { ErasureParams } from '../../../schemas/api/erasures.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

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
    remains: { scrubbed_at: null, backup_retention_days: 35, backups_until: SHOWN.validUntil },
    statement: ['The keys of the erased values are destroyed.'],
  },
};

/** The routes by which a backend erases. */
export const ERASURE_OPERATIONS: readonly Operation[] = [
  {
    id: 'eraseS2s',
    method: 'post',
    path: '/tool/v1/s2s/erasures',
    summary: 'Erase the personal data of a person, or of one record, for good',
    description:
      'It is carried out within moments: read the receipt until its state is finished. An unknown person or record is no failure: then the receipt counts 0. Send a random idempotency_key for each erasure, and the same one in every retry.',
    access: 'signed key and bearer',
    body: 'S2sErasureRequest',
    status: 202,
    response: 'ErasureReceiptResponse',
    errors: [...WITH_BODY, 'ADMISSION_UNAVAILABLE'],
    example: {
      body: {
        subject: { by: 'visitor_id', value: 'visitor-0815' },
        idempotency_key: '5b0f6d7a-3c1e-4a52-9d0e-7f0c1d2e3f40',
      },
      response: SHOWN_RECEIPT,
    },
  },
  {
    id: 'readErasureS2s',
    method: 'get',
    path: '/tool/v1/s2s/erasures/{id}',
    summary: 'The receipt of an erasure',
    access: 'key and bearer',
    pathParameters: ErasureParams,
    status: 200,
    response: 'ErasureReceiptResponse',
    errors: ['RESOURCE_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.erasureId }, response: SHOWN_RECEIPT },
  },
];
