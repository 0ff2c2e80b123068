import type { DocumentVersion, PanelDocument } from '../../../../schemas/api/panel/documents.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import type { AuditSubject } from '../../../platform/audit-log.js';

/** Subject and details of the audit-log entry for a change of a document, by a user or an operator. */
export function documentAudit(
  { id, slug, kind, requires_approval_token }: PanelDocument,
  siteId: string,
  more: JsonObject = {},
): { readonly subject: AuditSubject; readonly details: JsonObject } {
  return {
    subject: { kind: 'document', id },
    details: { site_id: siteId, slug, kind, requires_approval_token, ...more },
  };
}

/** Subject and details of the audit-log entry for a change of a version. */
export function versionAudit(
  { id, document_id, language, number, content_sha256, publication }: DocumentVersion,
  siteId: string,
  more: JsonObject = {},
): { readonly subject: AuditSubject; readonly details: JsonObject } {
  return {
    subject: { kind: 'document_version', id },
    details: {
      site_id: siteId,
      document_id,
      language,
      number,
      content_sha256,
      publication_event_id: publication?.event_id ?? null,
      ...more,
    },
  };
}
