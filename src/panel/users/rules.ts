import { ApiError } from '../../../schemas/api/error-codes.js';
import type { UserChange } from '../../catalogue/change-user.js';
import type { Role, User } from '../../catalogue/user-directory.js';

/** Roles that give nothing beyond what the key's role may do: what somebody may make of their own role. */
const LOWER: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['admin', 'dpo', 'viewer', 'api_user'],
  admin: ['viewer'],
  dpo: ['viewer'],
  viewer: [],
  api_user: [],
};

/**
 * Whether a user may have a hand in another's role, state, password or sign-ins: those of owners are for owners.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitManaging(actor: User, target: { readonly role: Role }): void {
  if (target.role === 'owner') permitGranting(actor, 'owner');
}

/**
 * Whether a user may give somebody a role.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitGranting(actor: User, role: Role): void {
  if (role === 'owner' && actor.role !== 'owner') {
    throw new ApiError('INSUFFICIENT_ROLE', 'Only an owner makes, changes or invites owners.');
  }
}

/**
 * Whether a user may make a change of another user, or of themselves.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitChange(actor: User, target: Pick<User, 'id' | 'role'>, { role }: UserChange): void {
  permitManaging(actor, target);
  if (role === undefined || role === target.role) return;
  permitGranting(actor, role);
  if (actor.id === target.id && !LOWER[target.role].includes(role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'Nobody gives themselves more rights: ask another owner or admin.');
  }
}
