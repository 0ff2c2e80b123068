import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { SUBJECT_ERASED, SubjectErasedRecord } from '../schemas/events/subject-erased.js';
import type { ConsentContent } from '../schemas/evidence/consent-body.js';
import type { Projection, ProjectionEvent } from './definition.js';
import { LEDGER_EVENTS, NOTICE_EVENTS } from './event-types.js';

/**
 * Every consent record as status and verify look it up: one row per record, without personal
 * values.
 */
export const consents: Projection = {
  name: 'consents',
  version: 2,
  tables: {
    consents: {
      columns: {
        event_id: { type: 'uuid', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        stream: { type: 'text', nullable: false },
        revision: { type: 'bigint', nullable: false },
        // JCS(record): the exact text that the hash covers.
        record: { type: 'text', nullable: false },
        proof_hash: { type: 'text', nullable: false },
        consent_type: { type: 'text', nullable: false },
        decision: { type: 'text', nullable: false },
        categories: { type: 'jsonb', nullable: true },
        language: { type: 'text', nullable: false },
        document_version_id: { type: 'uuid', nullable: false },
        compliance_framework: { type: 'text', nullable: true },
        created_at: { type: 'timestamptz', nullable: false },
        valid_until: { type: 'timestamptz', nullable: true },
        channel: { type: 'text', nullable: false },
        // Revision of the SubjectErased event in the same stream.
        erased_by: { type: 'bigint', nullable: true },
      },
      primaryKey: ['event_id'],
      indexes: [
        { columns: ['stream', 'revision'], unique: true },
        { columns: ['proof_hash'], unique: false },
        { columns: ['site_id', 'created_at'], unique: false },
      ],
    },
    // In the order of announcement, so that copies of the records can follow.
    erasures: {
      columns: {
        stream: { type: 'text', nullable: false },
        revision: { type: 'bigint', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        // Id of the erased record.
        event_id: { type: 'uuid', nullable: false },
        announced_at: { type: 'timestamptz', nullable: false },
      },
      primaryKey: ['stream', 'revision'],
      indexes: [],
    },
  },
  on: {
    [CONSENT_RECORDED]: (event) => {
      if (event.consent === null) throw new Error('the event is not a consent');
      return [{ kind: 'insert', table: 'consents', row: rowOf(event, event.consent) }];
    },
    [SUBJECT_ERASED]: ({ stream, revision, record }) => {
      const { site_id, erased_event_id: event_id, created_at: announced_at } = SubjectErasedRecord.parse(record);
      return [
        // After a restore, an erasure may name a record that the log has lost.
        { kind: 'update-if-present', table: 'consents', key: { event_id }, set: { erased_by: revision } },
        { kind: 'insert', table: 'erasures', row: { stream, revision, site_id, event_id, announced_at } },
      ];
    },
  },
  ignores: [...NOTICE_EVENTS, ...LEDGER_EVENTS],
};

function rowOf(event: ProjectionEvent, { body, record }: ConsentContent) {
  return {
    event_id: event.id,
    site_id: record.site_id,
    stream: event.stream,
    revision: event.revision,
    record: body.record,
    proof_hash: body.proof_hash,
    consent_type: record.consent_type,
    decision: record.decision,
    categories: record.categories,
    language: record.language,
    document_version_id: record.document_version_id,
    compliance_framework: record.compliance_framework,
    created_at: record.created_at,
    valid_until: record.valid_until,
    channel: record.channel,
  };
}
