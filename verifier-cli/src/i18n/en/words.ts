/** Words that several pages share. */
export const words = {
  unknown: 'unknown',
  none: 'none',
  notProved: 'not proved',
  yes: 'yes',
  no: 'no',
  details: 'Details',
  months: [
    ...['January', 'February', 'March', 'April', 'May', 'June'],
    ...['July', 'August', 'September', 'October', 'November', 'December'],
  ],
  verdicts: {
    valid: { word: 'Valid', sentence: 'Every required check passed.' },
    indeterminate: {
      word: 'Indeterminate',
      sentence: 'No check failed, but a required check could not be decided. See the checks marked “?” below.',
    },
    invalid: { word: 'Invalid', sentence: 'At least one check failed. See the checks marked “✗” below.' },
    development: {
      word: 'Valid, but not evidence',
      sentence: 'A development time stamp authority stamped this ledger. Anyone can run one and set its clock.',
    },
    published: {
      word: 'Consistent with what the operator publishes',
      sentence:
        'The key and the root certificates came from the operator’s own service, so nothing is proved against the operator. For that, check with a key and roots from elsewhere.',
    },
  },
  outcomes: { pass: 'passed', fail: 'failed', indeterminate: 'open', 'not-applicable': 'not applicable' },
  recordVerdicts: { valid: 'valid', indeterminate: 'indeterminate', invalid: 'invalid' },
  /** By `actOf`. */
  decisions: {
    accepted: 'accepted',
    rejected: 'rejected',
    partial: 'partial',
    withdrawn: 'withdrawn',
    'do_not_sell_opt_out accepted': 'opted out',
    'do_not_sell_opt_out withdrawn': 'opt-out taken back',
    'objection rejected': 'objected',
    'objection withdrawn': 'objection taken back',
  },
  objectedTo: (names: string) => `objected to ${names}`,
  stateOfLedger: (time: string) => `State of the ledger: ${time}.`,
  atUnprovedTime: 'at an unproved time',
  asOf: (time: string) => `as of ${time}`,
  asOfUnproved: 'as of an unproved time',
  because: (checks: readonly string[]) => `because of ${checks.join(' and ')}`,
  affects: (checks: readonly string[]) => `because of this, also failed or open: ${checks.join(', ')}`,
  line: (line: number) => `line ${line}`,
  revision: (stream: string, revision: number) => `${stream} revision ${revision}`,
  record: (id: string) => `record ${id}`,
  more: (count: number) => `and ${count} more`,
  missingTrust: (missing: readonly string[]) => `This file alone proves nothing. Missing: ${missing.join('; ')}.`,
  missingKey: (ledger: string) => `the key of the ledger (ask the operator of “${ledger}”)`,
  missingRoot: (authorities: string | null) =>
    `the root certificate of the time stamp authority (ask that authority${authorities === null ? '' : `: ${authorities}`})`,
};
