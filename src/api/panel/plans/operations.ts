import { dataOf, NoBody, None, PageQuery, pageOf } from '../../../../schemas/api/panel/common.js';
import { MonthlyUsage, Plan, Subscription } from '../../../../schemas/api/panel/plans.js';
import { operation, READERS } from '../operation.js';

const common = {
  method: 'get',
  tag: 'Plans',
  roles: READERS,
  params: None,
  body: NoBody,
  status: 200,
  errors: [],
  action: null,
} as const;

export const listPlans = operation({
  ...common,
  id: 'listPlans',
  path: '/plans',
  summary: 'List the plans',
  query: PageQuery,
  response: pageOf(Plan),
});

export const readSubscription = operation({
  ...common,
  id: 'readSubscription',
  path: '/subscription',
  summary: 'Get the plan of the tenant and the quota left in this month',
  description: 'The operator of the service assigns plans.',
  query: None,
  response: dataOf(Subscription),
});

export const listUsage = operation({
  ...common,
  id: 'listUsage',
  path: '/usage',
  summary: 'List the consents of each month that count towards the quota, newest first',
  query: PageQuery,
  response: pageOf(MonthlyUsage),
});

export const PLAN_OPERATIONS = [listPlans, readSubscription, listUsage];
