import { dataOf, NoBody, None, PageQuery, pageOf } from '../../../../schemas/api/panel/common.js';
import {
  ChangeTenantRequest,
  CreatedTenant,
  CreateTenantRequest,
  Tenant,
  TenantParams,
} from '../../../../schemas/api/panel/tenants.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Tenants';

export const listTenants = operation({
  id: 'listTenants',
  method: 'get',
  path: '/tenants',
  tag,
  summary: 'The tenants that the user belongs to: one',
  roles: READERS,
  params: None,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(Tenant),
  errors: [],
  action: null,
});

export const createTenant = operation({
  id: 'createTenant',
  method: 'post',
  path: '/tenants',
  tag,
  summary: 'Make another tenant, for a customer or a company of the same group',
  description:
    'It shares nothing with the tenant of whoever makes it. It has no plan: consents are answered 429 NO_CONSENT_SUBSCRIPTION until the operator of the service gives it one. The token of the first owner’s invitation is in this answer, and never shown again. A tenant, all that it has made, and all that those have made, make ten others a day at most together.',
  roles: ['owner'],
  params: None,
  query: None,
  body: CreateTenantRequest,
  example: { name: 'Example Holding', owner_email: 'owner@holding.example' },
  status: 201,
  response: dataOf(CreatedTenant),
  errors: ['TENANT_LIMIT_EXCEEDED'],
  action: 'tenant.create',
});

export const readTenant = operation({
  id: 'readTenant',
  method: 'get',
  path: '/tenants/{tenant_id}',
  tag,
  summary: 'One tenant',
  roles: READERS,
  params: TenantParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Tenant),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeTenant = operation({
  id: 'changeTenant',
  method: 'patch',
  path: '/tenants/{tenant_id}',
  tag,
  summary: 'Change the name of a tenant',
  description: 'The name is for people. What evidence says of the controller stands in the configuration of each site.',
  roles: EDITORS,
  params: TenantParams,
  query: None,
  body: ChangeTenantRequest,
  example: { name: 'Example Group' },
  status: 200,
  response: dataOf(Tenant),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'tenant.change',
});

export const TENANT_OPERATIONS = [listTenants, createTenant, readTenant, changeTenant];
