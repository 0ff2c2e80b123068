import { auditLogRoutes } from './audit-log/routes.js';
import type { PanelDeps } from './deps.js';
import type { PanelRoute } from './route.js';
import { tenantRoutes } from './tenants/routes.js';

/** Every route of the panel, in the order of `PANEL_OPERATIONS`. */
export function panelRoutes(deps: PanelDeps): readonly PanelRoute[] {
  return [...tenantRoutes(deps), ...auditLogRoutes(deps)];
}
