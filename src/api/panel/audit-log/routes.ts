import type { PanelRoutesOptions } from '../deps.js';
import { type PanelRoute, reads } from '../route.js';
import { listAuditLog } from './operations.js';
import { auditLogPage } from './show-audit-log.js';

/** The audit log of the caller's own tenant, to be read only. */
export function auditLogRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [reads(listAuditLog, ({ user, query }) => auditLogPage(apiPool, user.tenantId, query))];
}
