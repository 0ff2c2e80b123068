/**
 * Group roles that the service's connections take on (SET ROLE). None of them can log in, and
 * `ensureRoles` creates them.
 *
 * - `consent_ledger_api` answers callers: admission, look-ups, verification.
 * - `consent_ledger_worker`: relay, sealer, stamper, erasure, exports.
 * - `consent_ledger_projections` owns the read models and changes nothing else.
 * - `consent_ledger_admin` changes tenants, sites, keys, users and documents.
 * - `consent_ledger_auditor` reads everything and changes nothing: `consent-ledger audit`.
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

/** Owner of the schema `read_model` and of the schemas of the generations. */
export const READ_MODEL_OWNER: DatabaseRole = 'consent_ledger_projections';

/** Roles that read every view of `read_model`. */
export const READ_MODEL_READERS: readonly DatabaseRole[] = [
  'consent_ledger_api',
  'consent_ledger_worker',
  'consent_ledger_auditor',
];

/**
 * Returns the statements that an administrator runs if the service's user may not create roles.
 * @param user name of the database user that runs the migrations
 */
export function rolesSqlForAdministrator(user: string): string {
  const name = `"${user.replaceAll('"', '""')}"`;
  return DATABASE_ROLES.map((role) => `CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO ${name};`).join('\n');
}
