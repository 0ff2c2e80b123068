import { dataOf, NoBody, None, pageOf } from '../../../../schemas/api/panel/common.js';
import {
  CreatedInvitation,
  CreateInvitationRequest,
  Invitation,
  InvitationParams,
  InvitationsQuery,
} from '../../../../schemas/api/panel/invitations.js';
import { EDITORS, OVERSEERS, operation } from '../operation.js';

const tag = 'Invitations';

export const listInvitationsOperation = operation({
  id: 'listInvitations',
  method: 'get',
  path: '/invitations',
  tag,
  summary: 'List the invitations of the tenant, newest first',
  roles: OVERSEERS,
  params: None,
  query: InvitationsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(Invitation),
  errors: [],
  action: null,
});

export const readInvitationOperation = operation({
  id: 'readInvitation',
  method: 'get',
  path: '/invitations/{invitation_id}',
  tag,
  summary: 'Get an invitation',
  roles: OVERSEERS,
  params: InvitationParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Invitation),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const createInvitationOperation = operation({
  id: 'createInvitation',
  method: 'post',
  path: '/invitations',
  tag,
  summary: 'Invite a person to become a user of the tenant',
  description:
    'A service that sends mail delivers the token, at most 100 a day for a tenant, and `token` is null. Otherwise only this response contains it. The invited person sends it to /api/v1/auth/accept-invitation within 7 days. An open invitation of the same address is revoked. The invitation becomes invalid when the inviting user may no longer assign the role. Only an owner can invite owners, DPOs and API users.',
  roles: EDITORS,
  params: None,
  query: None,
  body: CreateInvitationRequest,
  example: { email: 'colleague@shop.example', role: 'viewer' },
  status: 201,
  response: dataOf(CreatedInvitation),
  errors: ['ALREADY_EXISTS'],
  action: 'invitation.create',
});

export const revokeInvitationOperation = operation({
  id: 'revokeInvitation',
  method: 'delete',
  path: '/invitations/{invitation_id}',
  tag,
  summary: 'Revoke an invitation that was not accepted',
  description: 'Only an owner can revoke invitations of owners, DPOs and API users.',
  roles: EDITORS,
  params: InvitationParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Invitation),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'invitation.revoke',
});

export const INVITATION_OPERATIONS = [
  listInvitationsOperation,
  readInvitationOperation,
  createInvitationOperation,
  revokeInvitationOperation,
];
