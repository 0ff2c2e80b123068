import { API_KEY_OPERATIONS } from './api-keys.js';
import { AUDIT_LOG_OPERATIONS } from './audit-log.js';
import { BANNER_OPERATIONS } from './banner-texts.js';
import { CATEGORY_OPERATIONS } from './categories.js';
import { CONFIGURATION_OPERATIONS } from './configuration.js';
import { CONSENT_OPERATIONS } from './consents.js';
import { COOKIE_OPERATIONS } from './cookies.js';
import { ATTACHMENT_OPERATIONS } from './document-attachments.js';
import { VERSION_OPERATIONS } from './document-versions.js';
import { DOCUMENT_OPERATIONS } from './documents.js';
import { ERASURE_OPERATIONS } from './erasures.js';
import { EXPORT_OPERATIONS } from './exports.js';
import { INVITATION_OPERATIONS } from './invitations.js';
import { PLAN_OPERATIONS } from './plans.js';
import { PANEL_SCAN_OPERATIONS } from './scans.js';
import { SEARCH_OPERATIONS } from './search.js';
import type { PanelRoute } from './serve-panel.js';
import { SIGN_IN_OPERATIONS } from './sign-ins.js';
import { SITE_OPERATIONS } from './sites.js';
import { STATISTICS_OPERATIONS } from './statistics.js';
import { TENANT_OPERATIONS } from './tenants.js';
import { TIMESTAMP_OPERATIONS } from './timestamps.js';
import { USER_OPERATIONS } from './users.js';
import { WEBHOOK_OPERATIONS } from './webhooks.js';

/** Every operation of the panel, in the order of its description. */
export const PANEL_OPERATIONS: readonly PanelRoute[] = [
  ...TENANT_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...STATISTICS_OPERATIONS,
  ...SITE_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DOCUMENT_OPERATIONS,
  ...ATTACHMENT_OPERATIONS,
  ...VERSION_OPERATIONS,
  ...CONFIGURATION_OPERATIONS,
  ...BANNER_OPERATIONS,
  ...CATEGORY_OPERATIONS,
  ...COOKIE_OPERATIONS,
  ...PANEL_SCAN_OPERATIONS,
  ...SEARCH_OPERATIONS,
  ...CONSENT_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...USER_OPERATIONS,
  ...INVITATION_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
  ...TIMESTAMP_OPERATIONS,
  ...AUDIT_LOG_OPERATIONS,
];
