import { CONSENT_IMPORTED, originOf } from '../schemas/events/consent-imported.js';
import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { consentsStream } from '../schemas/events/streams.js';
import { SUBJECT_ERASED, SubjectErasedRecord } from '../schemas/events/subject-erased.js';
import type { ConsentContent } from '../schemas/evidence/consent-body.js';
import type { Handler, Projection, ProjectionEvent } from './definition.js';
import { LEDGER_EVENTS, NOTICE_EVENTS } from './event-types.js';

/**
 * The members of every consent record, also of imported ones, that lists filter by, and its place in the log: one row per
 * record, without personal values. The exact text that is hashed is read from the log by this place.
 * The stream is `consentsStream(site_id)`: an event in another one is not of the service, which never
 * seals it, and it has no row.
 */
export const consents: Projection = {
  name: 'consents',
  version: 4,
  tables: {
    consents: {
      // In the order in which PostgreSQL stores the row without padding.
      columns: {
        revision: { type: 'bigint', nullable: false },
        created_at: { type: 'timestamptz', nullable: false },
        valid_until: { type: 'timestamptz', nullable: true },
        // Time of an imported consent, as the former tool states it.
        claimed_at: { type: 'timestamptz', nullable: true },
        // Revision of the SubjectErased event in the same stream.
        erased_by: { type: 'bigint', nullable: true },
        event_id: { type: 'uuid', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        document_version_id: { type: 'uuid', nullable: false },
        proof_hash: { type: 'bytea', nullable: false },
        consent_type: { type: 'text', nullable: false },
        decision: { type: 'text', nullable: false },
        channel: { type: 'text', nullable: false },
        language: { type: 'text', nullable: false },
        compliance_framework: { type: 'text', nullable: true },
        categories: { type: 'jsonb', nullable: true },
        approval_token_id: { type: 'text', nullable: true },
      },
      primaryKey: ['event_id'],
      // No index is unique: the log gives a place to one event, and the primary key refuses a second
      // row of it.
      indexes: [
        // Record exports, and what the table has last of a site.
        { columns: ['site_id', 'revision'], unique: false },
        // Searches, newest first.
        { columns: ['site_id', 'created_at'], unique: false },
        // Verification by proof hash.
        { columns: ['proof_hash'], unique: false, method: 'hash' },
      ],
    },
    // In the order of announcement, so that copies of the records can follow.
    erasures: {
      columns: {
        revision: { type: 'bigint', nullable: false },
        announced_at: { type: 'timestamptz', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        // Id of the erased record.
        event_id: { type: 'uuid', nullable: false },
      },
      primaryKey: ['site_id', 'revision'],
      indexes: [],
    },
  },
  on: {
    [CONSENT_RECORDED]: inserted,
    [CONSENT_IMPORTED]: inserted,
    [SUBJECT_ERASED]: ({ stream, revision, record }) => {
      const { site_id, erased_event_id: event_id, created_at: announced_at } = SubjectErasedRecord.parse(record);
      if (stream !== consentsStream(site_id)) return [];
      return [
        // After a restore, an erasure may name a record that the log has lost.
        { kind: 'update-if-present', table: 'consents', key: { event_id }, set: { erased_by: revision } },
        { kind: 'insert', table: 'erasures', row: { revision, announced_at, site_id, event_id } },
      ];
    },
  },
  ignores: [...NOTICE_EVENTS, ...LEDGER_EVENTS],
};

function inserted(event: ProjectionEvent): ReturnType<Handler> {
  if (event.consent === null) throw new Error('the event is not a consent');
  if (event.stream !== consentsStream(event.consent.record.site_id)) return [];
  return [{ kind: 'insert', table: 'consents', row: rowOf(event, event.consent) }];
}

function rowOf(event: ProjectionEvent, { body, record }: ConsentContent) {
  return {
    revision: event.revision,
    created_at: record.created_at,
    valid_until: record.valid_until,
    claimed_at: originOf(record)?.claimed_at ?? null,
    event_id: event.id,
    site_id: record.site_id,
    document_version_id: record.document_version_id,
    proof_hash: `\\x${body.proof_hash}`,
    consent_type: record.consent_type,
    decision: record.decision,
    channel: record.channel,
    language: record.language,
    compliance_framework: record.compliance_framework,
    categories: record.categories,
    approval_token_id: record.approval_token_id,
  };
}
