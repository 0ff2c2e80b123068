import { dataOf, NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import { SignIn, SignInParams, SignInsQuery } from '../../../../schemas/api/panel/sign-ins.js';
import { SignInsEnded } from '../../../../schemas/api/panel/users.js';
import { operation, READERS } from '../operation.js';

const tag = 'Sign-ins';

export const listSignInsOperation = operation({
  id: 'listSignIns',
  method: 'get',
  path: '/auth/sign-ins',
  tag,
  summary: 'List your active sign-ins, newest first',
  roles: READERS,
  params: None,
  query: SignInsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(SignIn),
  errors: [],
  action: null,
  isForUsers: true,
});

export const endSignInOperation = operation({
  id: 'endSignIn',
  method: 'delete',
  path: '/auth/sign-ins/{sign_in_id}',
  tag,
  summary: 'End one of your sign-ins',
  description: 'Its refresh token is invalid immediately, its access tokens within a second.',
  roles: READERS,
  params: SignInParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(SignInsEnded),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'sign_in.end',
  isForUsers: true,
});

export const SIGN_IN_OPERATIONS = [listSignInsOperation, endSignInOperation];
