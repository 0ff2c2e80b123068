import { AuditLogEntry, AuditLogQuery } from '../../../../schemas/api/panel/audit-log.js';
import { NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import { OVERSEERS, operation } from '../operation.js';

export const listAuditLog = operation({
  id: 'listAuditLog',
  method: 'get',
  path: '/audit-log',
  tag: 'Audit log',
  summary: 'What was changed, by whom and when; newest first',
  description: 'Append-only. Data subjects are named by event ids only.',
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
