import { apiKeyRoutes } from './api-keys/routes.js';
import { auditLogRoutes } from './audit-log/routes.js';
import { categoryRoutes } from './categories/routes.js';
import { configurationRoutes } from './configuration/routes.js';
import { consentRoutes } from './consents/routes.js';
import { cookieRoutes } from './cookies/routes.js';
import type { PanelRoutesOptions } from './deps.js';
import { documentRoutes } from './documents/routes.js';
import { erasureRoutes } from './erasures/routes.js';
import { exportRoutes } from './exports/routes.js';
import { invitationRoutes } from './invitations/routes.js';
import { planRoutes } from './plans/routes.js';
import type { PanelRoute } from './route.js';
import { panelScanRoutes } from './scans/routes.js';
import { signInRoutes } from './sign-ins/routes.js';
import { siteRoutes } from './sites/routes.js';
import { statisticsRoutes } from './statistics/routes.js';
import { tenantRoutes } from './tenants/routes.js';
import { timestampRoutes } from './timestamps/routes.js';
import { userRoutes } from './users/routes.js';
import { webhookRoutes } from './webhooks/routes.js';

/** Every route of the panel, in the order of `PANEL_OPERATIONS`. */
export function panelRoutes(options: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    ...tenantRoutes(options),
    ...planRoutes(options),
    ...statisticsRoutes(options),
    ...siteRoutes(options),
    ...apiKeyRoutes(options),
    ...webhookRoutes(options),
    ...documentRoutes(options),
    ...configurationRoutes(options),
    ...categoryRoutes(options),
    ...cookieRoutes(options),
    ...panelScanRoutes(options),
    ...consentRoutes(options),
    ...erasureRoutes(options),
    ...exportRoutes(options),
    ...userRoutes(options),
    ...invitationRoutes(options),
    ...signInRoutes(options),
    ...timestampRoutes(options),
    ...auditLogRoutes(options),
  ];
}
