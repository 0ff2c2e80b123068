/** The plan of the organisation and what it used. */
export const plan = {
  title: 'Plan and usage',
  lead: 'The operator of the service assigns plans.',
  current: 'Your plan',
  none: 'Your organisation has no plan: consents are refused. Ask the operator of the service.',
  name: 'Plan',
  active: 'Active',
  inactive: 'Not active: consents are refused',
  quota: 'Consents a month',
  rate: 'Requests a minute',
  used: 'Used in this month',
  left: 'Left in this month',
  unlimited: 'No limit',
  usage: 'Usage',
  month: 'Month',
  consents: 'Consents',
  noUsage: 'No consent was counted yet.',
};
