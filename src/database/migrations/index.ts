import { rolesSql } from './001-roles.sql.js';
import type { Migration } from './migration.js';

/**
 * The steps of the schema, in the order in which they are applied. Append only: an applied step is recorded with its
 * digest, and a database where it differs is refused.
 */
export const migrations: readonly Migration[] = [{ id: '001-roles', sql: rolesSql }];
