import type { EvidenceFilter } from '../../../schemas/api/panel/exports.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Disclose, ExportFilter } from '../package/index.js';

/** Converts the filter of a request to the filter of the exporter. */
export function exportFilter(filter: EvidenceFilter): ExportFilter {
  const { from, to, consent_type: consentType, document_version_id: documentVersionId, records, visitor_id } = filter;
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(consentType !== undefined && { consentType }),
    ...(documentVersionId !== undefined && { documentVersionId }),
    ...(records !== undefined && { eventIds: records }),
    ...(visitor_id !== undefined && { visitorId: visitor_id }),
  };
}

const NAMES: Readonly<Record<keyof ExportFilter, string>> = {
  from: 'from',
  to: 'to',
  consentType: 'consent_type',
  documentVersionId: 'document_version_id',
  eventIds: 'records',
  visitorId: 'visitor_id',
};

/**
 * The details of an export for the audit log: the names of the filter's fields, the listed records
 * and the disclosure choice. They never contain the visitor.
 */
export function auditDetails(filter: ExportFilter, disclose: Disclose): JsonObject {
  const names = Object.entries(NAMES).filter(([member]) => Object.hasOwn(filter, member));
  return {
    filter: names.map(([, name]) => name),
    ...(filter.eventIds !== undefined && { records: filter.eventIds }),
    disclose,
  };
}
