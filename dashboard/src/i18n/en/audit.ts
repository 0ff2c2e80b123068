/** The audit log. */
export const audit = {
  title: 'Audit log',
  lead: 'Every change and every disclosure, newest first. Entries are never changed or deleted.',
  list: 'Entries',
  action: 'What was done',
  actor: 'By whom',
  actors: { user: 'User', operator: 'Operator of the service', service: 'The service' },
  subject: 'On what',
  details: 'Details',
  filterAction: 'Action',
  filterHint: 'For example site.create. Empty: all.',
  none: 'No entry matches.',
};
