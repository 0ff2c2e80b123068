import type * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, pageOf } from '../../../schemas/api/panel/common.js';
import {
  ChangeUserRequest,
  PanelUser,
  PasswordReset,
  SignInsEnded,
  UserParams,
  UsersQuery,
} from '../../../schemas/api/panel/users.js';
import { endSignIns } from '../../accounts/credentials/end-sign-ins.js';
import { noticeTo } from '../../accounts/mail/mail-job.js';
import { causedBy, tooManyMails } from '../../accounts/mail/mail-queue.js';
import { removeSecondFactor } from '../../accounts/second-factor/change-factor.js';
import { createPasswordReset } from '../../accounts/sign-in/set-password.js';
import { changeDetails, changeUser, type UserChange } from '../../accounts/users/change-user.js';
import { type ListedUser, listUsers, readUser } from '../../accounts/users/list-users.js';
import type { Role, User } from '../../accounts/users/user-directory.js';
import { mayGrant } from '../../accounts/users/users.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { PanelCaller } from '../server/caller.js';
import { EDITORS, OVERSEERS, tokenMail } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'Users' } as const;
const one = { ...shared, params: UserParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/**
 * Users of the caller's own tenant. The transaction decides which users a role may change
 * (the functions `permit…` below).
 */
export const USER_OPERATIONS = [
  route({
    ...shared,
    id: 'listUsers',
    path: '/api/v1/users',
    summary: 'List the users of the tenant, newest first',
    roles: OVERSEERS,
    query: UsersQuery,
    response: pageOf(PanelUser),
    handle: ({ user, query }, { apiPool }) => userList(apiPool, user.tenantId, query),
  }),
  route({
    ...one,
    id: 'readUser',
    path: '/api/v1/users/{user_id}',
    summary: 'Get a user',
    roles: OVERSEERS,
    response: dataOf(PanelUser),
    handle: async ({ user, params }, { apiPool }) => ({
      data: shownUser(await readUser(apiPool, user.tenantId, params.user_id)),
    }),
  }),
  route({
    ...one,
    id: 'changeUser',
    method: 'patch',
    path: '/api/v1/users/{user_id}',
    summary: 'Change the role of a user, or disable or enable the user',
    description:
      'The change takes effect within a second in every process. Disabling ends the sign-ins of the user. Only an owner can assign or change owners, DPOs and API users; an admin manages admins and viewers. A tenant keeps one active owner, and users cannot give themselves more rights. 409 WRONG_STATE if the user is the last active owner, or has a second factor and would become an API user, who has none. Open password resets of the user become invalid.',
    roles: EDITORS,
    body: ChangeUserRequest,
    example: { body: { role: 'dpo' } },
    response: dataOf(PanelUser),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'user.change',
    change: async ({ user, params, body }, db) => {
      const change = { role: body.role, isDisabled: body.is_disabled };
      const changed = await changeUser(db, user.tenantId, params.user_id, change, (target) =>
        permitChange(user, target, change),
      );
      return {
        response: { data: shownUser(changed.after) },
        subject: { kind: 'user', id: changed.after.id },
        details: changeDetails(changed),
      };
    },
  }),
  route({
    ...one,
    id: 'createPasswordReset',
    method: 'post',
    path: '/api/v1/users/{user_id}/password-reset',
    summary: 'Create a token with which a user sets a new password',
    description:
      'A service that sends mail delivers the token to the user, and `token` is null. Otherwise only this response contains it. The user sends it to /api/v1/auth/reset-password within 24 hours. An earlier token becomes invalid. The token becomes invalid when role or state of the user change, or when its creator may no longer create it. Only an owner can create one for owners, DPOs and API users. Users change their own at /api/v1/auth/change-password.',
    roles: EDITORS,
    status: 201,
    response: dataOf(PasswordReset),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'user.create_password_reset',
    change: async ({ user, params, mailCause }, db, { queueMail }) => {
      const mail = causedBy(tokenMail(user, queueMail), mailCause);
      const target = await readUser(db, user.tenantId, params.user_id);
      permitResetting(user, target);
      const { token, expiresAt } = await createPasswordReset(db, target, user.id);
      const expires_at = expiresAt.toISOString();
      if (mail !== null && !(await mail(db, { kind: 'password_reset', to: target.email, token, expires_at }))) {
        throw tooManyMails();
      }
      return {
        response: { data: { user_id: target.id, token: mail === null ? token : null, expires_at } },
        subject: { kind: 'user', id: target.id },
      };
    },
  }),
  route({
    ...one,
    id: 'endUserSignIns',
    method: 'delete',
    path: '/api/v1/users/{user_id}/sign-ins',
    summary: 'End every sign-in of a user',
    description: 'The user can sign in again. Only an owner can end the sign-ins of owners, DPOs and API users.',
    roles: EDITORS,
    response: dataOf(SignInsEnded),
    action: 'user.end_sign_ins',
    change: async ({ user, params }, db) => {
      const target = await readUser(db, user.tenantId, params.user_id);
      permitManaging(user, target);
      const ended = await endSignIns(db, target.id, { all: true }, 'ended_by_admin');
      return {
        response: { data: { ended_sign_ins: ended } },
        subject: { kind: 'user', id: target.id },
        details: { ended_sign_ins: ended },
      };
    },
  }),
  route({
    ...one,
    id: 'resetSecondFactor',
    method: 'delete',
    path: '/api/v1/users/{user_id}/second-factor',
    summary: 'Remove the second factor of a user who lost it',
    description:
      'The user signs in with the password alone, and can add another one. Only an owner can do this for owners, DPOs and API users. Users remove their own at /api/v1/auth/second-factor/disable.',
    roles: EDITORS,
    response: dataOf(PanelUser),
    action: 'user.reset_second_factor',
    change: async ({ user, params, mailCause }, db, { queueMail }) => {
      const target = await readUser(db, user.tenantId, params.user_id);
      permitRemovingFactor(user, target);
      const changed = await removeSecondFactor(db, target.id);
      if (changed) await causedBy(queueMail, mailCause)?.(db, noticeTo(target.email, 'second_factor_disabled'));
      return {
        response: { data: shownUser({ ...target, hasSecondFactor: false }) },
        subject: { kind: 'user', id: target.id },
        details: { changed },
      };
    },
  }),
];

/**
 * A page of users, newest first.
 * @param tenantId null reads those of every tenant, for operators
 * @throws ApiError VALIDATION_ERROR
 */
export async function userList(
  db: Queryable,
  tenantId: string | null,
  query: z.output<typeof UsersQuery>,
): Promise<Page<z.infer<typeof PanelUser>>> {
  const rows = await listUsers(db, {
    tenantId,
    role: query.role,
    isDisabled: query.state === undefined ? undefined : query.state === 'disabled',
    after: keyOfCursor(TimeAndId, query),
    limit: query.limit + 1,
  });
  return pageOfRows(query, rows, ({ createdAt, id }) => [createdAt.toISOString(), id], shownUser);
}

/** Returns a user as the panel and the command line show it: times in ISO 8601, nothing about the password. */
export function shownUser(user: ListedUser): z.infer<typeof PanelUser> {
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    is_disabled: user.disabledAt !== null,
    has_second_factor: user.hasSecondFactor,
    created_at: user.createdAt.toISOString(),
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    disabled_at: user.disabledAt?.toISOString() ?? null,
  };
}

/** Roles that users may give themselves, by current role. Their rights are a subset of the current ones. */
const LOWER: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['admin', 'dpo', 'viewer', 'api_user'],
  admin: ['viewer'],
  dpo: ['viewer'],
  viewer: [],
  api_user: [],
};

/**
 * Checks that a user may manage the role, state, password, sign-ins or invitation of another user.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitManaging(actor: PanelCaller, target: { readonly role: Role }): void {
  permitGranting(actor, target.role);
}

/**
 * Checks that a user may assign a role.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitGranting(actor: PanelCaller, role: Role): void {
  if (!mayGrant(actor.role, role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'Only an owner can manage users with the role owner, dpo or api_user.');
  }
}

/**
 * Checks that a user may create a password-reset token. Users cannot create one for themselves, because a thief of an
 * access token could then replace the password without knowing it.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitResetting(actor: PanelCaller, target: Pick<User, 'id' | 'role'>): void {
  permitManaging(actor, target);
  if (actor.id === target.id) {
    throw new ApiError(
      'INSUFFICIENT_ROLE',
      'You cannot reset your own password. Change it at /api/v1/auth/change-password.',
    );
  }
}

/**
 * Checks that a user may remove the second factor of another user. Users cannot remove their own without a code,
 * because a stolen access token would then be enough.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitRemovingFactor(actor: PanelCaller, target: Pick<User, 'id' | 'role'>): void {
  permitManaging(actor, target);
  if (actor.id === target.id) {
    throw new ApiError(
      'INSUFFICIENT_ROLE',
      'You cannot reset your own second factor. Disable it at /api/v1/auth/second-factor/disable.',
    );
  }
}

/**
 * Checks that a user may change another user, or themselves.
 * @throws ApiError INSUFFICIENT_ROLE
 */
export function permitChange(actor: PanelCaller, target: Pick<User, 'id' | 'role'>, { role }: UserChange): void {
  permitManaging(actor, target);
  if (role === undefined || role === target.role) return;
  permitGranting(actor, role);
  if (actor.id === target.id && !LOWER[target.role].includes(role)) {
    throw new ApiError('INSUFFICIENT_ROLE', 'You cannot give yourself more rights. Ask another owner or admin.');
  }
}
