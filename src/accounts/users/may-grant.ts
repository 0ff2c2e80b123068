import type { Role } from './user-directory.js';

/**
 * Whether a user of one role may give another, and manage whoever has it. What leads to personal data (`owner`, `dpo`, and `api_user` by the S2S API) is
 * for owners: an admin who could give it would have it.
 */
export function mayGrant(by: Role, role: Role): boolean {
  if (by === 'owner') return true;
  return by === 'admin' && (role === 'admin' || role === 'viewer');
}
