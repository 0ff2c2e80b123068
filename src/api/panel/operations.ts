import type { Operation } from '../server/operation.js';
import { API_KEY_OPERATIONS } from './api-keys/operations.js';
import { AUDIT_LOG_OPERATIONS } from './audit-log/operations.js';
import { CATEGORY_OPERATIONS } from './categories/operations.js';
import { CONFIGURATION_OPERATIONS } from './configuration/operations.js';
import { CONSENT_OPERATIONS } from './consents/operations.js';
import { COOKIE_OPERATIONS } from './cookies/operations.js';
import { DOCUMENT_OPERATIONS } from './documents/operations.js';
import { ERASURE_OPERATIONS } from './erasures/operations.js';
import { EXPORT_OPERATIONS } from './exports/operations.js';
import { INVITATION_OPERATIONS } from './invitations/operations.js';
import { PLAN_OPERATIONS } from './plans/operations.js';
import { PANEL_SCAN_OPERATIONS } from './scans/operations.js';
import { SIGN_IN_OPERATIONS } from './sign-ins/operations.js';
import { SITE_OPERATIONS } from './sites/operations.js';
import { STATISTICS_OPERATIONS } from './statistics/operations.js';
import { TENANT_OPERATIONS } from './tenants/operations.js';
import { TIMESTAMP_OPERATIONS } from './timestamps/operations.js';
import { USER_OPERATIONS } from './users/operations.js';
import { WEBHOOK_OPERATIONS } from './webhooks/operations.js';

/** Every operation of the panel, in the order of its description. */
export const PANEL_OPERATIONS: readonly Operation[] = [
  ...TENANT_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...STATISTICS_OPERATIONS,
  ...SITE_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DOCUMENT_OPERATIONS,
  ...CONFIGURATION_OPERATIONS,
  ...CATEGORY_OPERATIONS,
  ...COOKIE_OPERATIONS,
  ...PANEL_SCAN_OPERATIONS,
  ...CONSENT_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...USER_OPERATIONS,
  ...INVITATION_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
  ...TIMESTAMP_OPERATIONS,
  ...AUDIT_LOG_OPERATIONS,
];
