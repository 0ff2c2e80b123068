/** What each connection may do at most. Whoever runs migrations is granted all of them. */
const ROLE_NAMES = [
  // Answers callers: admission, look-ups, verification.
  'consent_ledger_api',
  // Relay, sealer, stamper, erasure.
  'consent_ledger_worker',
  // Read models, and nothing else to change.
  'consent_ledger_projections',
  // Changes tenants, sites, keys, users and documents: the commands of operators.
  'consent_ledger_admin',
] as const;

/**
 * The group roles that the service's connections take on (`SET ROLE`), none of which can log in.
 *
 * Roles belong to the whole server: another database's migration may be making the same ones at this moment, so "it is
 * there already" is no failure. Where they are there and granted, no CREATEROLE is needed.
 */
export const rolesSql = `
DO $$
DECLARE
  wanted text;
  privilege text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  FOREACH wanted IN ARRAY ARRAY[${ROLE_NAMES.map((name) => `'${name}'`).join(', ')}] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END IF;
    IF NOT pg_has_role(current_user, wanted, privilege) THEN
      EXECUTE format('GRANT %I TO %I', wanted, current_user);
    END IF;
  END LOOP;
END
$$;
`;

/** What an administrator runs when the service's user may not create roles. */
export function rolesSqlForAdministrator(user: string): string {
  const name = `"${user.replaceAll('"', '""')}"`;
  return ROLE_NAMES.map((role) => `CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO ${name};`).join('\n');
}
