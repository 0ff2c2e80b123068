import { counted } from '../../../../schemas/text/counted.js';

/** Statements about the evidence: its proofs, its limits and its coverage. */
export const evidence = {
  // Statements that the evidence proves.
  ledger: (origin: string, records: number, decisions: string) =>
    `The ledger “${origin}”, whose key you gave, contains ${records === 1 ? 'this record' : `these ${records} records`} (${decisions}).`,
  unknownLedger: 'Whose ledger this is, is not proved. Someone other than the operator may have made all of it.',
  imported: (records: number) => `${records} imported, as a former tool stated`,
  existed: (time: string, records: number, isTrial: boolean) =>
    `${records === 1 ? 'It' : 'All of them'} existed by ${time} (UTC)${isTrial ? ' (a trial authority states this).' : '. Time stamp authorities that you trust state this, not the service.'}`,
  sealedAfter: (time: string, records: number) =>
    `${records === 1 ? 'It was' : 'All of them were'} sealed after ${time} (UTC).`,
  unchanged: (records: number): string =>
    records === 1
      ? 'It was not changed since: the record still matches the digest that was stamped.'
      : 'None of them was changed since: every record still matches the digest that was stamped.',
  madeFor: 'Made for',
  madeForText: (reason: string, role: string, name: string | undefined) =>
    `${reason}, by ${role}${name === undefined ? '' : ` (“${name}”)`}, as the package states`,
  reasons: {
    data_subject_request: 'a request of the person concerned',
    regulator_request: 'a request of a supervisory authority',
    court_proceedings: 'proceedings before a court',
    controller_request: 'a request of the controller',
    internal_audit: 'an internal audit',
    migration: 'a move to another system',
    other: 'another reason',
  },
  roles: {
    owner: 'a user with the role owner',
    admin: 'a user with the role administrator',
    dpo: 'a user with the role data-protection officer',
    viewer: 'a user with the role viewer',
    api_user: 'a backend of the controller',
    command: 'the command line of the operator',
  },
  operator: 'Operator of the ledger (as it states itself)',
  notStated: 'not stated',
  qualified: 'Qualified time stamps (as the operator states)',
  qualifiedBy: (authority: string, list: string) =>
    `${authority}: as the operator states, qualified under eIDAS, see ${list}. This was not checked.`,
  witnessed: (witnesses: number, names: string, batches: number) =>
    `${counted(witnesses, 'witness', 'witnesses')} that you trust (${names}) saw this ledger of ${counted(batches, 'batch', 'batches')}, and no other history of it.`,
  recomputed: (names: string, leaves: number) =>
    `${names} recomputed the operator’s own summaries of the first ${counted(leaves, 'batch', 'batches')} of the ledger: they leave nothing out.`,
  texts:
    'The texts consented to are included exactly as they were published, and the ledger contains their publication.',
  scans: (scans: number, isWhole: boolean) =>
    `The ledger contains ${scans === 1 ? 'a scan' : `${scans} scans`} of pages of the site, as the service recorded ${scans === 1 ? 'it' : 'them'}.${isWhole ? ' No recorded scan is left out.' : ''}`,
  disclosed: (values: number) =>
    `The disclosed personal details (${counted(values, 'value')}) are the ones that were recorded.`,
  person: (records: number, person: string, isRecomputed: boolean) =>
    `The ledger has ${counted(records, 'record')} under one id of the person “${person}”, and the package contains all of them: under this id, no withdrawal is left out${isRecomputed ? '' : ', as the operator’s own summaries of the ledger state'}.`,
  erased: (records: number) =>
    `The personal details of ${counted(records, 'record')} were erased, and the ledger contains the erasure.`,
  // Statements that the evidence does not prove.
  notWho:
    'Who the person was. The records state what the service was told, or what the backend of the tenant vouched for.',
  notWhen:
    'When a person acted. The time stamps prove by when a record existed. The time in a record (created_at) is a claim of the service.',
  notAll: 'That every consent was recorded. Completeness can be proved only for events in the event log.',
  notImported: (records: number) =>
    `When and how the persons of ${counted(records, 'imported consent')} decided. A former tool stated it, and the service sealed the statement at the import.`,
  notScanned:
    'That the scanned pages set nothing else, or behaved in the same way for others. A scan states what the service saw on one page at one time.',
  notWitnessed:
    'That every recipient is shown the same history. Only independent witnesses that you trust can confirm it, and no such witness has confirmed the newest state in this package.',
  notIndependent: 'That the witnesses are independent of the operator of the ledger, and of each other.',
  notRecomputed:
    'That the operator’s own summaries of the ledger leave nothing out. Only a witness that you trust, and that recomputed them, can confirm it, and no such witness has confirmed the newest state in this package.',
  notShownToOthers:
    'That no other recipient was shown another record in the place of one of these. Compare packages with consent-verify compare to detect that.',
  notLaterOfPerson:
    'What the person did after that time, or under another identifier. Compare the receipts that the person keeps.',
  notLater: (count: number) =>
    `What was recorded after ${count === 1 ? 'the one consent or erasure' : `the ${count} consents and erasures`} in the package. It contains no later one.`,
  notComplete: (coverage: string | null) =>
    `That these are all records of the site or of a person. A later withdrawal may be missing.${coverage === null ? '' : ` ${coverage}`}`,
  notStamped: (consents: number) =>
    `Anything about ${counted(consents, 'further consent')} without a time stamp when the package was made.`,
  notWithheld: (values: number) =>
    `The content of ${counted(values, 'value')} that the package withholds. It proves only that a value was recorded and not changed.`,
  notErased: (records: number) =>
    `The personal details of ${counted(records, 'erased record')}. Erasures that were announced later than the state of the package are not known to it.`,
  notInDispute:
    'Anything in a dispute. A development time stamp authority stamped this ledger, and anyone can run one.',
  // Its coverage, in plain words.
  kinds: { consents: 'consents and erasures', notices: 'documents and configurations' },
  hasAll: (count: number, kind: string, isRecomputed: boolean) =>
    `The package has all of the site’s ${kind} that the ledger has (${count})${isRecomputed ? '' : ', as the operator’s own summaries of the ledger state'}.`,
  hasFirst: (count: number, kind: string, end: string) =>
    `Of the site’s ${kind}, the package has the first ${count}; ${end}.`,
  hasRanges: (ranges: string, kind: string, end: string) =>
    `Of the site’s ${kind}, the package has numbers ${ranges} without a gap; ${end}.`,
  hasNotAll: (kind: string, end: string) => `The package does not show all of the site’s ${kind}; ${end}.`,
  ledgerHas: (count: number) => `the ledger has ${count}`,
  ledgerHasUnknown: 'it does not show how many the ledger has',
  moreRanges: (count: number) => `and ${counted(count, 'more range')}`,
  // Its coverage, by revisions.
  endNotShown: 'the package does not show where it ends',
  endEmpty: 'the ledger has none',
  endAt: (revision: number) => `the ledger has revisions up to ${revision}`,
  wholeUpTo: (revision: number, isRecomputed: boolean) =>
    `complete up to revision ${revision}, the last one in the ledger${isRecomputed ? '' : ' by the roll-ups of the operator'}`,
  completeUpTo: (revision: number, end: string) => `complete up to revision ${revision}; ${end}`,
  notShownComplete: (end: string) => `not shown to be complete; ${end}`,
  run: (first: number, last: number) => `${first} to ${last}`,
  completeWithin: (runs: string, more: number, end: string) =>
    `complete only within revisions ${runs}${more === 0 ? '' : ` and ${counted(more, 'more run')}`}; ${end}`,
  verdicts: (valid: number, indeterminate: number, invalid: number) =>
    `${valid} hold, ${indeterminate} indeterminate, ${invalid} invalid`,
  work: (done: number, limit: number) => `${done} units of at most ${limit}`,
  policy: (sealWithin: number, stampWithin: number, source: string) =>
    `sealed within ${sealWithin} s, stamped within ${stampWithin} s (${source})`,
  policyDefaults: 'defaults: the package includes no policy of the ledger',
  policyNumber: (number: number) => `policy ${number} of the ledger`,
  noCheckpoint: 'the package includes no checkpoint',
  authorities: (count: number, checkpoint: number, demanded: number) =>
    `${counted(count, 'distinct authority', 'distinct authorities')} stamped checkpoint ${checkpoint}; the policy demands ${demanded}`,
  witnesses: (count: number, checkpoint: number, demanded: number) =>
    `${counted(count, 'witness', 'witnesses')} that you gave cosigned checkpoint ${checkpoint}; the policy demands ${demanded}`,
  // Conditions of the request for the package.
  wholeSite: 'the whole site',
  only: (conditions: string) => `only ${conditions}`,
  from: (time: string) => `created from ${time}`,
  to: (time: string) => `created before ${time}`,
  type: (type: string) => `type ${type}`,
  version: (id: string) => `document version ${id}`,
  selected: (count: number) => counted(count, 'selected record'),
  persons: (count: number) => `${count === 1 ? 'one person' : `${count} persons`}`,
  discloses: { all: 'all', none: 'none' },
};
