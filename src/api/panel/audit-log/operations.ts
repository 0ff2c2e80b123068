import { AuditLogEntry, AuditLogQuery } from '../../../../schemas/api/panel/audit-log.js';
import { NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import { OVERSEERS, operation } from '../operation.js';

export const listAuditLog = operation({
  id: 'listAuditLog',
  method: 'get',
  path: '/audit-log',
  tag: 'Audit log',
  summary: 'List changes and disclosures, newest first',
  description: 'The log is append-only. It identifies data subjects only by event ids.',
  roles: OVERSEERS,
  params: None,
  query: AuditLogQuery,
  body: NoBody,
  status: 200,
  response: pageOf(AuditLogEntry),
  errors: [],
  action: null,
});

export const AUDIT_LOG_OPERATIONS = [listAuditLog];
