import { apiKeyRoutes } from './api-keys/routes.js';
import { auditLogRoutes } from './audit-log/routes.js';
import type { PanelDeps } from './deps.js';
import { planRoutes } from './plans/routes.js';
import type { PanelRoute } from './route.js';
import { siteRoutes } from './sites/routes.js';
import { tenantRoutes } from './tenants/routes.js';

/** Every route of the panel, in the order of `PANEL_OPERATIONS`. */
export function panelRoutes(deps: PanelDeps): readonly PanelRoute[] {
  return [
    ...tenantRoutes(deps),
    ...planRoutes(deps),
    ...siteRoutes(deps),
    ...apiKeyRoutes(deps),
    ...auditLogRoutes(deps),
  ];
}
