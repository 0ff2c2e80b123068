import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import {
  AlarmsResponse,
  ConsentStatisticsQuery,
  ConsentStatisticsResponse,
} from '../../../../schemas/api/panel/statistics.js';
import { operation, READERS } from '../operation.js';

const common = {
  method: 'get',
  tag: 'Statistics',
  roles: READERS,
  params: None,
  body: NoBody,
  status: 200,
  action: null,
} as const;

export const readConsentStatistics = operation({
  ...common,
  id: 'readConsentStatistics',
  path: '/statistics/consents',
  summary: 'Count the consents of each day by decision',
  description:
    'Days are those of UTC. The counts include erased records, because their decisions remain, and include a new record a moment after it was accepted.',
  query: ConsentStatisticsQuery,
  response: ConsentStatisticsResponse,
  errors: ['SITE_NOT_FOUND'],
});

export const listAlarms = operation({
  ...common,
  id: 'listAlarms',
  path: '/alarms',
  summary: 'List the conditions that the tenant should know of',
  description:
    'An empty list means that none of the conditions was found now. Altered rows are looked for in the sites and the plan.',
  query: None,
  response: AlarmsResponse,
  errors: [],
});

export const STATISTICS_OPERATIONS = [readConsentStatistics, listAlarms];
