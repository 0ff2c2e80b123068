import type { Alarm } from '../../api/types.js';

/** The first page after sign-in. */
export const overview = {
  title: 'Overview',
  lead: (days: string) => `The last ${days} days of your organisation, counted in UTC.`,
  period: 'Period',
  allSites: 'Show all sites',
  consents: (days: string) => `Consents in ${days} days`,
  more: (count: string, share: string | null, days: string) =>
    `${count} more${share === null ? '' : ` (${share} more)`} than in the ${days} days before`,
  fewer: (count: string, share: string | null, days: string) =>
    `${count} fewer${share === null ? '' : ` (${share} fewer)`} than in the ${days} days before`,
  same: (days: string) => `As many as in the ${days} days before`,
  rateBefore: (rate: string) => `${rate} in the period before`,
  bySite: 'Consents by site',
  site: 'Site',
  share: 'Share',
  imported: (count: string) => `and ${count} imported`,
  rate: 'Acceptance rate',
  rateHint: 'share of “accepted” among all choices',
  noRate: 'No choices yet',
  quota: 'Left in this month',
  quotaOf: (used: string, all: string) => `${used} of ${all} used`,
  unlimited: 'No limit',
  stamp: 'Newest time stamp',
  noStamp: 'None yet',
  development: 'from the development authority, no evidence',
  waiting: (count: string) => `entries that wait for one: ${count}`,
  chart: 'Consents a day, by decision',
  chartSummary: (total: string, days: string) => `${total} consents in ${days} days.`,
  chooseDay: 'Tap or point at a day, or use the arrow keys, to see its numbers.',
  asTable: 'Show the numbers as a table',
  day: 'Day',
  total: 'Total',
  conflicts:
    'In the last 30 days, clients used idempotency keys again with another consent, which was not recorded. See what to do:',
  alarms: 'This needs attention',
  alarmTexts: {
    row_altered:
      'Stored settings were altered outside the service, which no longer uses them. Tell the operator of the service.',
    site_quarantined: 'Records of a site wait until the operator of the service acts.',
    stamp_overdue:
      'A consent waits for its time stamp longer than the policy of the ledger permits. Tell the operator of the service.',
    domain_proof_failing:
      'The file or tag that proves the domain is not found. Consents are still recorded. If it is not found for 30 days, scans and publications stop.',
    plan_inactive: 'Your plan is not active: consents are refused.',
    quota_used_up: 'The quota of this month is used up: consents are refused.',
  } as Record<Alarm['kind'], string>,
};
