/** The certificate of one page. */
export const paper = {
  title: 'Certificate of a consent record',
  importedTitle: 'Certificate of an imported consent record',
  across: { invalid: 'INVALID', indeterminate: 'NOT PROVED' },
  /** In place of sentences that point to marks which the paper does not have. */
  verdicts: {
    indeterminate: 'No check failed, but a required check could not be decided.',
    invalid: 'At least one check failed.',
  },
  provedRecord: 'Proved: this record is in the ledger, unchanged',
  attention: 'Attention:',
  shortened: '… (shortened: the whole text is in the file)',
  shown: 'As it was shown',
  shownWith: 'Drawn from the recorded words. The outlined control is the one that was used.',
  text: 'In these words',
  proved: 'What this rests on',
  place: (index: number, count: string, batch: number) =>
    `This record is entry ${index + 1} of ${count} in Merkle batch ${batch}, which the signed root of the ledger covers.`,
  stamped: (authority: string, time: string) =>
    `The time stamp of ${authority} proves that the record existed, as it is here, by ${time}.`,
  unchanged: 'No part of the record was changed since: its digest is the one that was stamped.',
  stampedByPublished: (authority: string, time: string) =>
    `By the root certificate that the operator publishes, ${authority} stamped the record by ${time}.`,
  unchangedByPublished: 'By the same root certificate, no part of the record was changed since.',
  unstamped: 'No valid time stamp covers this record, so when it existed and whether it was changed is not proved.',
  development: 'A development authority stamped it. Anyone can run one and set its clock, so this is not evidence.',
  invalid: 'At least one check of this record failed, so nothing on this page is proved. The first that failed:',
  invalidPackage: 'Another part of the file failed a check. Read its full report.',
  undecided: 'No check of this record failed, but these could not be decided, so it is not proved:',
  undecidedFile: 'No check of this record failed, but its file as a whole is not proved. Read its full report.',
  limits:
    'It does not prove who used the device, when that person acted, or that nothing was recorded later or elsewhere.',
  nothingByItself: 'This paper proves nothing by itself.',
  file: {
    valid: (file: string) => `The file ${file} does.`,
    indeterminate: (file: string) => `Nor does the file ${file}, as it was checked here.`,
    invalid: (file: string) => `Nor does the file ${file}, which failed a check.`,
  },
  howToCheck: 'Check it without a network with consent-verify, or with the page of the same name. Its SHA-256:',
  verifiers: {
    command: (version: string) => `Made by consent-verify ${version}, whose SHA-256 is, as it states itself:`,
    page: (version: string) =>
      `Made by the page of consent-verify ${version}, whose script has, as it states itself, the SHA-256:`,
  },
  verifierUnknown: (version: string) => `Made by consent-verify ${version}, which does not know its own SHA-256.`,
  genuine:
    'The genuine digests are in consent-verify.digests.txt of the release, with an attestation of how it was built. Compare with the release, not with what the operator or this file states.',
  signature: ['Place and date', 'Name and function', 'Signature'],
  utc: 'UTC governs all times.',
};
