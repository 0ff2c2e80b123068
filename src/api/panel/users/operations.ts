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
  summary: 'The users of the tenant, newest first',
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
  summary: 'One user',
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
  summary: 'Give a user another role; disable or enable a user',
  description:
    'It holds within a second, in every process. Disabling ends the user’s sign-ins. Only an owner makes or changes owners, DPOs and API users; an admin manages admins and viewers. A tenant keeps one active owner; nobody gains rights by changing their own role. A password reset that is open is void by it.',
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
  summary: 'Make a token by which a user sets a new password',
  description:
    'The service sends no mail: hand the token, shown this once, to the user, who passes it to /api/v1/auth/reset-password within 24 hours. It voids an earlier one, and is void itself once the role or state of the user changes, or whoever made it may do so no more. Only an owner resets the password of owners, DPOs and API users; nobody their own (/api/v1/auth/change-password does).',
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
  description: 'The user can sign in again. Only an owner does this to owners, DPOs and API users.',
  roles: EDITORS,
  params: UserParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(SignInsEnded),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'user.end_sign_ins',
});

export const USER_OPERATIONS = [
  listUsersOperation,
  readUserOperation,
  changeUserOperation,
  createPasswordResetOperation,
  endUserSignInsOperation,
];
