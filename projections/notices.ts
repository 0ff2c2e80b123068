import { sha256Hex } from '../schemas/crypto/digest.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
  DocumentVersionPublishedRecord,
  DocumentVersionStateRecord,
  PublicEventBody,
} from '../schemas/events/notices.js';
import { CONSENT_TYPES } from '../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord } from '../schemas/events/site-config.js';
import { SITE_SCANNED, SiteScannedRecord } from '../schemas/events/site-scanned.js';
import { SUBJECT_ERASED } from '../schemas/events/subject-erased.js';
import type { Handler, Mutation, Projection, ProjectionEvent } from './definition.js';
import { LEDGER_EVENTS } from './event-types.js';

/**
 * The notices of a site, as recorded in the log: document versions with their states, site
 * configurations, and recorded scans.
 */
export const notices: Projection = {
  name: 'notices',
  version: 2,
  tables: {
    notice_versions: {
      columns: {
        document_version_id: { type: 'uuid', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        document_id: { type: 'uuid', nullable: false },
        slug: { type: 'text', nullable: false },
        kind: { type: 'text', nullable: false },
        title: { type: 'text', nullable: false },
        language: { type: 'text', nullable: false },
        number: { type: 'integer', nullable: false },
        media_type: { type: 'text', nullable: false },
        content_sha256: { type: 'text', nullable: false },
        requires_approval_token: { type: 'boolean', nullable: false },
        // published, active or retired.
        state: { type: 'text', nullable: false },
        // Revision of the newest event about this version.
        revision: { type: 'bigint', nullable: false },
        published_at: { type: 'timestamptz', nullable: false },
        activated_at: { type: 'timestamptz', nullable: true },
        retired_at: { type: 'timestamptz', nullable: true },
      },
      primaryKey: ['document_version_id'],
      indexes: [{ columns: ['site_id', 'document_id'], unique: false }],
    },
    notice_configs: {
      columns: {
        // SHA-256 of the record's text: the site_config_hash of consents.
        sha256: { type: 'text', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        number: { type: 'integer', nullable: false },
        revision: { type: 'bigint', nullable: false },
        record: { type: 'text', nullable: false },
        published_at: { type: 'timestamptz', nullable: false },
      },
      primaryKey: ['sha256'],
      indexes: [{ columns: ['site_id', 'number'], unique: true }],
    },
    notice_scans: {
      columns: {
        event_id: { type: 'uuid', nullable: false },
        site_id: { type: 'uuid', nullable: false },
        revision: { type: 'bigint', nullable: false },
        record: { type: 'text', nullable: false },
        recorded_at: { type: 'timestamptz', nullable: false },
      },
      primaryKey: ['event_id'],
      indexes: [{ columns: ['site_id', 'recorded_at'], unique: false }],
    },
  },
  on: {
    [DOCUMENT_VERSION_PUBLISHED]: (event) => {
      const { v: _, event_id: __, created_at, ...version } = DocumentVersionPublishedRecord.parse(event.record);
      const row = { ...version, state: 'published', revision: event.revision, published_at: created_at };
      return [{ kind: 'insert', table: 'notice_versions', row }];
    },
    [DOCUMENT_VERSION_ACTIVATED]: becomes('active', 'activated_at'),
    [DOCUMENT_VERSION_RETIRED]: becomes('retired', 'retired_at'),
    [SITE_CONFIG_PUBLISHED]: configurationPublished,
    [SITE_SCANNED]: siteScanned,
  },
  ignores: [...CONSENT_TYPES, SUBJECT_ERASED, ...LEDGER_EVENTS],
};

function becomes(state: string, column: string): Handler {
  return (event) => {
    const { document_version_id, created_at } = DocumentVersionStateRecord.parse(event.record);
    const set = { state, revision: event.revision, [column]: created_at };
    return [{ kind: 'update', table: 'notice_versions', key: { document_version_id }, set }];
  };
}

/**
 * Handles every version of the event. The hash covers the text as published, so records are not
 * upcast.
 */
function configurationPublished(event: ProjectionEvent): readonly Mutation[] {
  const { record: text } = PublicEventBody.parse(event.body);
  const { site_id, number, created_at } = SiteConfigPublishedRecord.parse(event.record);
  const row = {
    sha256: sha256Hex(text),
    site_id,
    number,
    revision: event.revision,
    record: text,
    published_at: created_at,
  };
  return [{ kind: 'insert', table: 'notice_configs', row }];
}

function siteScanned(event: ProjectionEvent): readonly Mutation[] {
  const { record } = PublicEventBody.parse(event.body);
  const { event_id, site_id, created_at } = SiteScannedRecord.parse(event.record);
  const row = { event_id, site_id, revision: event.revision, record, recorded_at: created_at };
  return [{ kind: 'insert', table: 'notice_scans', row }];
}
