import { apiKeyRoutes } from './api-keys/routes.js';
import { auditLogRoutes } from './audit-log/routes.js';
import { categoryRoutes } from './categories/routes.js';
import { configurationRoutes } from './configuration/routes.js';
import { consentRoutes } from './consents/routes.js';
import { cookieRoutes } from './cookies/routes.js';
import type { PanelDeps } from './deps.js';
import { documentRoutes } from './documents/routes.js';
import { erasureRoutes } from './erasures/routes.js';
import { exportRoutes } from './exports/routes.js';
import { invitationRoutes } from './invitations/routes.js';
import { planRoutes } from './plans/routes.js';
import type { PanelRoute } from './route.js';
import { signInRoutes } from './sign-ins/routes.js';
import { siteRoutes } from './sites/routes.js';
import { tenantRoutes } from './tenants/routes.js';
import { timestampRoutes } from './timestamps/routes.js';
import { userRoutes } from './users/routes.js';

/** Every route of the panel, in the order of `PANEL_OPERATIONS`. */
export function panelRoutes(deps: PanelDeps): readonly PanelRoute[] {
  return [
    ...tenantRoutes(deps),
    ...planRoutes(deps),
    ...siteRoutes(deps),
    ...apiKeyRoutes(deps),
    ...documentRoutes(deps),
    ...configurationRoutes(deps),
    ...categoryRoutes(deps),
    ...cookieRoutes(deps),
    ...consentRoutes(deps),
    ...erasureRoutes(deps),
    ...exportRoutes(deps),
    ...userRoutes(deps),
    ...invitationRoutes(deps),
    ...signInRoutes(deps),
    ...timestampRoutes(deps),
    ...auditLogRoutes(deps),
  ];
}
