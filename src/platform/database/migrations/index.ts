import { rolesSql } from './001-roles.sql.js';
import { tenantsAndCatalogueSql } from './002-tenants-and-catalogue.sql.js';
import { admissionSql } from './003-admission.sql.js';
import { admissionFunctionsSql } from './004-admission-functions.sql.js';
import { ledgerSql } from './005-ledger.sql.js';
import { projectionsSql } from './006-projections.sql.js';
import { erasureAndExportsSql } from './007-erasure-and-exports.sql.js';
import { eventLogSchemaSql } from './008-event-log.sql.js';
import { ledgerKeyRotationSql } from './009-ledger-key-rotation.sql.js';
import { auditLogSql } from './010-audit-log.sql.js';
import { signInSql } from './011-sign-in.sql.js';
import { sitesAndKeysSql } from './012-sites-and-keys.sql.js';
import { configurationSql } from './013-configuration.sql.js';
import { exportsSql } from './014-exports.sql.js';
import { erasureSql } from './015-erasure.sql.js';
import { leastRightsSql } from './016-least-rights.sql.js';
import { whoLetInSql } from './017-who-let-in.sql.js';
import { tenantsSql } from './018-tenants.sql.js';
import type { Migration } from './migration.js';

/**
 * The steps of the schema, in the order in which they are applied. Append only: an applied step is recorded with its
 * digest, and a database where it differs is refused.
 */
export const migrations: readonly Migration[] = [
  { id: '001-roles', sql: rolesSql },
  { id: '002-tenants-and-catalogue', sql: tenantsAndCatalogueSql },
  { id: '003-admission', sql: admissionSql },
  { id: '004-admission-functions', sql: admissionFunctionsSql },
  { id: '005-ledger', sql: ledgerSql },
  { id: '006-projections', sql: projectionsSql },
  { id: '007-erasure-and-exports', sql: erasureAndExportsSql },
  { id: '008-event-log', sql: eventLogSchemaSql },
  { id: '009-ledger-key-rotation', sql: ledgerKeyRotationSql },
  { id: '010-audit-log', sql: auditLogSql },
  { id: '011-sign-in', sql: signInSql },
  { id: '012-sites-and-keys', sql: sitesAndKeysSql },
  { id: '013-configuration', sql: configurationSql },
  { id: '014-exports', sql: exportsSql },
  { id: '015-erasure', sql: erasureSql },
  { id: '016-least-rights', sql: leastRightsSql },
  { id: '017-who-let-in', sql: whoLetInSql },
  { id: '018-tenants', sql: tenantsSql },
];
