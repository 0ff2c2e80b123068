import { dataOf, NoBody, None, PageQuery, pageOf } from '../../../../schemas/api/panel/common.js';
import { MonthlyUsage, Plan, Subscription } from '../../../../schemas/api/panel/plans.js';
import { operation, READERS } from '../operation.js';

const common = {
  method: 'get',
  tag: 'Plans and usage',
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
  summary: 'The plans that there are',
  query: PageQuery,
  response: pageOf(Plan),
});

export const readSubscription = operation({
  ...common,
  id: 'readSubscription',
  path: '/subscription',
  summary: 'What the tenant has subscribed to, and what is left of it this month',
  description: 'Plans are changed by the operator of the service.',
  query: None,
  response: dataOf(Subscription),
});

export const listUsage = operation({
  ...common,
  id: 'listUsage',
  path: '/usage',
  summary: 'Consents of each month that count for the quota, newest first',
  query: PageQuery,
  response: pageOf(MonthlyUsage),
});

export const PLAN_OPERATIONS = [listPlans, readSubscription, listUsage];
