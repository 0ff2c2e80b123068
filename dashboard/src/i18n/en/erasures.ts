/** Erasures of personal values. */
export const erasures = {
  title: 'Erasures',
  lead: 'Which personal values were erased, when and why. Each erasure is an event of the ledger.',
  list: 'Erasures',
  emptyTitle: 'Nothing was erased yet',
  emptyText: 'To answer a request for erasure, search for the person under Consents, and choose “Erase this person”.',
  requested: 'Requested',
  reason: 'Reason',
  reasons: { person: 'All records of a person', record: 'One record', retention: 'Retention period' },
  records: 'Records',
  states: { pending: 'In progress', finished: 'Finished' },
  receipt: 'Receipt of the erasure',
  finished: 'Finished',
  erasedRecords: 'Erased records',
  destroyedPackages: 'Destroyed exports',
  backups: 'Backups',
  backupsUntil: (date: string) => `Backups can contain the values until ${date}.`,
  statement: 'Answer to the person',
  statementLead: 'You can copy these words into your answer.',
  forPerson: {
    nothingFound: 'We found no personal data of you in our records of consents.',
    erased: (date: string, count: string) =>
      count === '1'
        ? `On ${date} we erased your personal data from one record of a consent. We can no longer read it.`
        : `On ${date} we erased your personal data from ${count} records of consents. We can no longer read it.`,
    remnants: 'Remnants that are not read in normal use stay in our technical storage until it is cleaned.',
    backupsUntil: (date: string) => `Backup copies from before the erasure can contain the data until ${date}.`,
    backupsUnknown: 'Backup copies from before the erasure can contain the data for some time.',
    copies: 'Copies that were handed over before the erasure, for example to an authority, are not changed by it.',
    stays: 'We keep the fact that a choice was made, and when, without anything that says that it was yours.',
  },
  technical: 'For the operator of the service',
  technicalLead: 'What was destroyed, and what can remain, in technical terms.',
  inProgress: 'The erasure is in progress. The part that is done is final.',
  nothingFound: 'No record was found to erase, and nothing was destroyed.',
  keysDestroyed:
    'The keys of the erased values are destroyed. Neither the service nor a user of its database can read these values any more.',
  keysSampled:
    'The keys of the erased values are destroyed, but the planner statistics of the database hold samples of keys, because its schema was changed. A user of the database who has the master key may still read some of the values until an operator runs “consent-ledger admin scrub”.',
  notScrubbed:
    'The files of the database and its WAL may contain the deleted bytes until an operator runs “consent-ledger admin scrub”.',
  scrubbed: (date: string) =>
    `The deleted bytes were removed from the files of the database by ${date}. Its WAL may contain them until its segments are recycled.`,
  backupsUnknown:
    'Backups of the database that were made before the erasure could still reveal the values. Their retention is not configured: ask the operator of the backups.',
  noBackups: 'The operator keeps no backups of the database.',
  backupsRemain: (date: string, days: string) =>
    `Backups of the database that were made before the erasure could reveal the values until ${date}. This holds if the operator destroys each backup ${days} days after its start, as configured.`,
  copies:
    'Evidence packages that were downloaded or exported before the erasure are not changed. Their owners are responsible for them.',
  announcements: 'In the ledger',
  announcementStates: {
    waiting: 'Not announced yet',
    logged: 'Announced in the event log',
    sealed: 'Sealed into the ledger',
    stamped: 'Time-stamped',
  },
  print: 'Print',
};
