import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { UserChange } from '../../../accounts/users/change-user.js';
import { mayGrant } from '../../../accounts/users/may-grant.js';
import type { Role, User } from '../../../accounts/users/user-directory.js';

/** Roles that give nothing beyond what the key's role may do: what somebody may make of their own role. */
const LOWER: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['admin', 'dpo', 'viewer', 'api_user'],
  admin: ['viewer'],
  dpo: ['viewer'],
  viewer: [],
  api_user: [],
};

/**
 * Whether a user may have a hand in another's role, state, password, sign-ins or invitation.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitManaging(actor: User, target: { readonly role: Role }): void {
  permitGranting(actor, target.role);
}

/**
 * Whether a user may give somebody a role.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitGranting(actor: User, role: Role): void {
  if (!mayGrant(actor.role, role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'What concerns an owner, a dpo or an api_user is for owners.');
  }
}

/**
 * Whether a user may make a token that resets a password. Nobody does for themselves: with a stolen access token that would be the way around the current
 * password.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitResetting(actor: User, target: Pick<User, 'id' | 'role'>): void {
  permitManaging(actor, target);
  if (actor.id === target.id) {
    throw new ApiError('INSUFFICIENT_ROLE', 'Nobody resets their own password: change it, with the current one.');
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
