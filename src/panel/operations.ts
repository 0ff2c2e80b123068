import { AUDIT_LOG_OPERATIONS } from './audit-log/operations.js';
import type { PanelOperation } from './operation.js';
import { TENANT_OPERATIONS } from './tenants/operations.js';

/** Every operation of the panel, in the order of its description. */
export const PANEL_OPERATIONS: readonly PanelOperation[] = [...TENANT_OPERATIONS, ...AUDIT_LOG_OPERATIONS];
