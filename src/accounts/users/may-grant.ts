import type { Role } from './user-directory.js';

/**
 * Whether a user with one role may grant another role and manage its users. Only owners may grant
 * roles with access to personal data (`owner`, `dpo`, and `api_user` through the S2S API).
 * Otherwise an admin could obtain that access.
 */
export function mayGrant(by: Role, role: Role): boolean {
  if (by === 'owner') return true;
  return by === 'admin' && (role === 'admin' || role === 'viewer');
}
