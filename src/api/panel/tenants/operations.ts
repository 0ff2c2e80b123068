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
  summary: 'List the tenant of the user',
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
  summary: 'Create another tenant, for a customer or a company of the same group',
  description:
    'The new tenant shares nothing with the tenant of the user. It has no plan: consents return 429 NO_CONSENT_SUBSCRIPTION until the operator of the service assigns one. Without mail, only this response contains the token of the first owner’s invitation. A tenant and its direct and indirect descendants can create ten tenants a day in total.',
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
  summary: 'Get a tenant',
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
  description: 'The name is only displayed. Evidence names the controller of the configuration of each site.',
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
