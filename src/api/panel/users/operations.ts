import { dataOf, NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import {
  ChangeUserRequest,
  PanelUser,
  PasswordReset,
  SignInsEnded,
  UserParams,
  UsersQuery,
} from '../../../../schemas/api/panel/users.js';
import { EDITORS, OVERSEERS, operation } from '../operation.js';

const tag = 'Users';

export const listUsersOperation = operation({
  id: 'listUsers',
  method: 'get',
  path: '/users',
  tag,
  summary: 'List the users of the tenant, newest first',
  roles: OVERSEERS,
  params: None,
  query: UsersQuery,
  body: NoBody,
  status: 200,
  response: pageOf(PanelUser),
  errors: [],
  action: null,
});

export const readUserOperation = operation({
  id: 'readUser',
  method: 'get',
  path: '/users/{user_id}',
  tag,
  summary: 'Get a user',
  roles: OVERSEERS,
  params: UserParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(PanelUser),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeUserOperation = operation({
  id: 'changeUser',
  method: 'patch',
  path: '/users/{user_id}',
  tag,
  summary: 'Change the role of a user, or disable or enable the user',
  description:
    'The change takes effect within a second in every process. Disabling ends the sign-ins of the user. Only an owner can assign or change owners, DPOs and API users; an admin manages admins and viewers. A tenant keeps one active owner, and users cannot give themselves more rights. Open password resets of the user become invalid.',
  roles: EDITORS,
  params: UserParams,
  query: None,
  body: ChangeUserRequest,
  example: { role: 'dpo' },
  status: 200,
  response: dataOf(PanelUser),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'user.change',
});

export const createPasswordResetOperation = operation({
  id: 'createPasswordReset',
  method: 'post',
  path: '/users/{user_id}/password-reset',
  tag,
  summary: 'Create a token with which a user sets a new password',
  description:
    'A service that sends mail delivers the token to the user, and `token` is null. Otherwise only this response contains it. The user sends it to /api/v1/auth/reset-password within 24 hours. An earlier token becomes invalid. The token becomes invalid when role or state of the user change, or when its creator may no longer create it. Only an owner can create one for owners, DPOs and API users. Users change their own at /api/v1/auth/change-password.',
  roles: EDITORS,
  params: UserParams,
  query: None,
  body: NoBody,
  status: 201,
  response: dataOf(PasswordReset),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'user.create_password_reset',
});

export const endUserSignInsOperation = operation({
  id: 'endUserSignIns',
  method: 'delete',
  path: '/users/{user_id}/sign-ins',
  tag,
  summary: 'End every sign-in of a user',
  description: 'The user can sign in again. Only an owner can end the sign-ins of owners, DPOs and API users.',
  roles: EDITORS,
  params: UserParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(SignInsEnded),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'user.end_sign_ins',
});

export const resetSecondFactorOperation = operation({
  id: 'resetSecondFactor',
  method: 'delete',
  path: '/users/{user_id}/second-factor',
  tag,
  summary: 'Remove the second factor of a user who lost it',
  description:
    'The user signs in with the password alone, and can add another one. Only an owner can do this for owners, DPOs and API users. Users remove their own at /api/v1/auth/second-factor/disable.',
  roles: EDITORS,
  params: UserParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(PanelUser),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'user.reset_second_factor',
});

export const USER_OPERATIONS = [
  listUsersOperation,
  readUserOperation,
  changeUserOperation,
  createPasswordResetOperation,
  endUserSignInsOperation,
  resetSecondFactorOperation,
];
