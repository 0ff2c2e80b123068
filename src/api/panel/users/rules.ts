import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { UserChange } from '../../../accounts/users/change-user.js';
import type { Role, User } from '../../../accounts/users/user-directory.js';
import { mayGrant } from '../../../accounts/users/users.js';
import type { Caller } from '../caller.js';

/**
 * Roles that a user may give themselves: their rights are a subset of those of the current role.
 */
const LOWER: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['admin', 'dpo', 'viewer', 'api_user'],
  admin: ['viewer'],
  dpo: ['viewer'],
  viewer: [],
  api_user: [],
};

/**
 * Whether a user may manage role, state, password, sign-ins or invitation of another user.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitManaging(actor: Caller, target: { readonly role: Role }): void {
  permitGranting(actor, target.role);
}

/**
 * Whether a user may assign a role.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitGranting(actor: Caller, role: Role): void {
  if (!mayGrant(actor.role, role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'Only an owner can manage users with the role owner, dpo or api_user.');
  }
}

/**
 * Whether a user may create a token that resets a password. Users cannot create one for themselves,
 * because a stolen access token would then replace the current password.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitResetting(actor: Caller, target: Pick<User, 'id' | 'role'>): void {
  permitManaging(actor, target);
  if (actor.id === target.id) {
    throw new ApiError(
      'INSUFFICIENT_ROLE',
      'You cannot reset your own password. Change it at /api/v1/auth/change-password.',
    );
  }
}

/**
 * Whether a user may remove the second factor of another one. Users cannot remove their own without a
 * code, because a stolen access token would then do it.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitRemovingFactor(actor: Caller, target: Pick<User, 'id' | 'role'>): void {
  permitManaging(actor, target);
  if (actor.id === target.id) {
    throw new ApiError(
      'INSUFFICIENT_ROLE',
      'You cannot reset your own second factor. Disable it at /api/v1/auth/second-factor/disable.',
    );
  }
}

/**
 * Whether a user may change another user, or themselves.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitChange(actor: Caller, target: Pick<User, 'id' | 'role'>, { role }: UserChange): void {
  permitManaging(actor, target);
  if (role === undefined || role === target.role) return;
  permitGranting(actor, role);
  if (actor.id === target.id && !LOWER[target.role].includes(role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'You cannot give yourself more rights. Ask another owner or admin.');
  }
}
