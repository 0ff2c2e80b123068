import type { Role } from './api/types.js';

/**
 * The roles that may perform each action (docs/panel-api.md). The dashboard offers only what the
 * role of the user may do; the service checks every request.
 */
const RIGHTS = {
  changeSites: ['owner', 'admin'],
  changeRetention: ['owner', 'dpo'],
  seeWebhooks: ['owner', 'admin', 'dpo'],
  seePersonalData: ['owner', 'dpo'],
  erase: ['owner', 'dpo'],
  export: ['owner', 'dpo'],
  seeTeam: ['owner', 'admin', 'dpo'],
  changeTeam: ['owner', 'admin'],
  seeAuditLog: ['owner', 'admin', 'dpo'],
} as const satisfies Record<string, readonly Role[]>;

export type Right = keyof typeof RIGHTS;

/** @param role the role in the service's response */
export function may(role: string, right: Right): boolean {
  const roles: readonly string[] = RIGHTS[right];
  return roles.includes(role);
}

/** Roles that a user with the role `by` may give and manage. */
export function grantableRoles(by: string): readonly Role[] {
  if (by === 'owner') return ['owner', 'admin', 'dpo', 'viewer', 'api_user'];
  return by === 'admin' ? ['admin', 'viewer'] : [];
}
