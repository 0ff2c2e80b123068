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
  summary: 'The invitations of the tenant, newest first',
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
  summary: 'One invitation',
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
  summary: 'Invite somebody to become a user of the tenant',
  description:
    'The service sends no mail: hand the token, shown this once, to the invited person, who passes it to /api/v1/auth/accept-invitation within 7 days. It revokes an open invitation of the same address. It is void once whoever invites may not give the role any more. Only an owner invites owners, DPOs and API users.',
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
  description: 'Only an owner revokes those of owners, DPOs and API users.',
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
