/**
 * Group roles of the service's connections. The migration `ROLES_MIGRATION` creates them and
 * documents the purpose of each.
 */
export const DATABASE_ROLES = [
  'consent_ledger_api',
  'consent_ledger_worker',
  'consent_ledger_projections',
  'consent_ledger_admin',
  'consent_ledger_auditor',
] as const;

/** Role of a connection. Each role has only the rights that its part of the service needs. */
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/**
 * Id of the migration that needs the right to create roles, or roles that an administrator has
 * created.
 */
export const ROLES_MIGRATION = '0001-initial/01-roles';

/**
 * Returns the statements that an administrator runs if the service's user may not create roles.
 * @param user name of the database user that runs the migrations
 */
export function rolesSqlForAdministrator(user: string): string {
  const name = `"${user.replaceAll('"', '""')}"`;
  return DATABASE_ROLES.map((role) => `CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO ${name};`).join('\n');
}
