import { counted } from '../../../../schemas/text/counted.js';
import { personalFields } from '../../../../schemas/text/personal-fields/en.js';

/** What a configuration states of a category, in words. */
interface Processing {
  readonly title: string;
  readonly purpose: string;
  readonly basis: string;
  /** Empty: none. */
  readonly recipients: string;
  readonly days: number | null;
}

/** A rule of a site, in words. */
interface AppliedRule {
  readonly id: string;
  readonly where: string;
  /** Empty: none is known. */
  readonly laws: string;
  /** Empty: none is named. */
  readonly categories: string;
}

/** One record: its certificate, its page and its text on a terminal. */
export const record = {
  fileTitle: 'One record of consent',
  title: 'One record of consent',
  eventTitle: 'One event of the ledger',
  wholePackage: (word: string) =>
    `This verdict is for this record. The verdict of the whole package is ${word}: see the package report.`,
  wholePackageShort: (word: string) => `(verdict of the whole package: ${word})`,
  recorded: 'What was recorded',
  importedTitle: 'What a former tool stated',
  origin: 'Origin',
  imported: (tool: string, sealed: string | null) =>
    `imported from ${tool}: stated by the former tool, ${sealed === null ? 'time of sealing not proved' : `sealed on ${sealed}`}`,
  statedOnly: 'What this file states, without proof',
  decision: 'Decision',
  rule: 'Rule',
  ruleText: ({ id, where, laws, categories }: AppliedRule) =>
    `The page stated that it asked by the rule “${id}” of the site for ${where}${laws === '' ? '' : ` (${laws})`}: ${categories === '' ? '' : `${categories}; `}everything else waits for consent.`,
  categoryRules: {
    opt_in: (name: string) => `${name} waits for consent`,
    opt_out: (name: string) => `${name} runs until the person opts out`,
    exempt: (name: string) => `${name} runs without a choice until the person objects`,
  },
  noRule: 'The page stated no rule of the site: everything optional waits for consent.',
  noFramework: 'The list of laws has no word for the person’s place. That does not mean that no law applies.',
  scope: 'Holds for',
  ofAccount: (space: string | null) =>
    `all devices of the person’s account${space === null ? '' : `, on all sites of “${space}”`}; the backend of the website vouches for the person`,
  purpose: 'Purpose',
  purposeText: (type: string, title: string | null) => (title === null ? type : `${type}, by the text “${title}”`),
  by: 'By',
  assurance: 'How that is known',
  agreedText: 'Text shown',
  website: 'Website',
  controller: 'Controller',
  inZone: (utc: string, local: string, zone: string, offset: string) =>
    `${utc} (${local} in ${zone}, UTC${offset}; UTC governs)`,
  withdrawal: 'To change or withdraw',
  withdrawalNotStated: 'not stated: ask the controller',
  existedBy: 'Existed by',
  claimedTime: 'Claimed time',
  processing: 'Purposes, as the site stated them',
  processingOf: ({ title, purpose, basis, recipients, days }: Processing) =>
    `“${title}”: ${purpose} Ground: ${basis}. Recipients: ${recipients === '' ? 'none named' : recipients}. Data kept: ${days === null ? 'no limit stated' : `${days} days`}.`,
  bases: {
    consent: 'consent',
    contract: 'a contract',
    legal_obligation: 'a legal obligation',
    legitimate_interest: 'a legitimate interest',
  },
  validUntil: 'Valid until',
  withoutEnd: 'without end',
  afterwards: 'Afterwards',
  person: {
    signer_name: 'name',
    signer_email: 'e-mail address',
    signer_phone: 'telephone number',
    visitor_id: 'visitor id',
  },
  fields: personalFields,
  presentation: {
    title: 'How it was asked',
    drawn: 'The question, drawn',
    drawnBy: (layout: string, version: number) =>
      `The sealed words, drawn in the layout “${layout}” (version ${version}). The control that was used is marked. Words of controls that the site’s configuration does not state are those of this program.`,
    notDrawn: {
      invalid: 'It is not drawn, because the record is invalid: its words may not be sealed.',
      imported: 'It is not drawn, because a former tool asked the question.',
      configuration: 'It is not drawn, because this file does not have the configuration with its words.',
      language: 'It is not drawn, because the configuration has no words in the stated language.',
      layout: 'It is not drawn, because this program knows no layout that has all that is stated.',
    },
    contradicts: {
      decision: 'The stated control does not lead to the decision of this record.',
      control: 'The control that was used is not among the stated ones.',
      notice: 'The record states a notice whose words are not those of the browser SDK for this version and language.',
    },
    notStated: 'not stated',
    notShown: 'stated, and not disclosed in this file or erased',
    statedBy: {
      browser: 'The browser stated this, and nothing confirmed it.',
      s2s: 'The backend of the website stated this, and nothing confirmed it.',
      import: 'A former tool stated this, and nothing confirmed it.',
    },
    layout: (name: string, version: number | null) =>
      `The banner had the layout “${name}”${version === null ? '' : ` (version ${version})`}.`,
    theme: (name: string) => `The theme was “${name}”.`,
    layer: (name: string) =>
      name === 'first'
        ? 'The person decided in the first view.'
        : name === 'settings'
          ? 'The person decided in the settings.'
          : `The person decided in the view “${name}”.`,
    language: (tag: string) => `The texts were in the language “${tag}”.`,
    schemes: { light: 'The colours were light.', dark: 'The colours were dark.' },
    sizes: {
      phone: 'The window had the size of a phone.',
      tablet: 'The window had the size of a tablet.',
      desktop: 'The window was wide.',
    },
    textSizes: {
      below_12: 'The smallest text was below 12 pixels.',
      usual: 'The text had the usual size.',
      enlarged: 'The text was larger than usual.',
    },
    controls: (names: string) => `The person could use these controls: ${names}.`,
    preselected: {
      nothing: 'Nothing was preselected.',
      earlier: 'The earlier choice was preselected.',
      gpc: 'The refusal that the browser signals was preselected.',
    },
    used: (name: string) => `The person used the control “${name}”.`,
    notice: (words: string, tag: string, version: number) =>
      `The notice “${words}” was shown (${tag}, version ${version}).`,
    account: (words: string, tag: string) => `About the choice of the account, “${words}” was shown (${tag}).`,
    rule: (name: string) => `The rule for asking was “${name}”.`,
    elapsed: (seconds: number) => `The decision came ${seconds} s after the question.`,
    sdk: (name: string) => `The program ${name} showed it.`,
  },
  iab: {
    title: 'Told to advertisers',
    notShown: 'stated, and not disclosed in this file or erased',
    tc: (purposes: string, features: string, vendors: number, list: number, day: string) =>
      `The browser stated a TC string of ${day}. It says: ${purposes === '' ? 'no purpose' : `purposes ${purposes}`}; ${features === '' ? '' : `special features ${features}; `}${counted(vendors, 'vendor')} of the vendor list ${list}.`,
    gpp: (section: string, values: string, gpc: boolean | null) =>
      `The browser stated a GPP string. Its section ${section} says: ${values}${gpc === true ? '; Global Privacy Control' : ''}.`,
    otherSections: (ids: string) => `Its sections ${ids} are not read by this program.`,
    optOuts: { not_applicable: 'does not apply', opted_out: 'opted out', not_opted_out: 'not opted out' },
    tcAgrees:
      'This record and the sealed configuration say the same of the consent platform, the vendor list, the country, the purposes, the special features, legitimate interests for a purpose and the vendors. Not compared: the language, the screen and the version of the policy.',
    gppAgrees:
      'This record and the sealed configuration say the same of the sections and the opt-outs. Not compared: the notices given, consents to sensitive data or to data of children, agreements (MSPA) and the version of a section.',
    ofFormerTool: 'A former tool stated what follows, and no browser.',
    otherDay: 'Its dates are more than two days from the time of this record.',
    noSection: 'The browser stated a GPP string. It has no section that this program reads.',
    noOptOut: 'This record is an opt-out, and the string does not state one.',
    signalBeside: 'It states Global Privacy Control beside “not opted out”.',
    standardTexts: 'It says that the question had the standard texts of IAB Europe; the banner has those of the site.',
    interests: (vendors: number) =>
      `Its bits of legitimate interest of ${counted(vendors, 'vendor')} that ${vendors === 1 ? 'was' : 'were'} disclosed were not compared: only the vendor list says which vendors have special purposes alone. They permit nothing.`,
    differs: (parts: string) => `This record and the sealed configuration say otherwise: ${parts}.`,
    objection: 'Stated, and not compared: this record is an objection, and the strings state the choice of the person.',
    noSettings: 'This file has no configuration that states these signals, so that they were not compared.',
    unreadableTc: 'The browser stated a TC string that is not one of version 2.',
    unreadableGpp: 'The browser stated a GPP string that is not one of version 1.',
    optOut: 'the opt-out',
    sections: 'the sections',
    earlierOptOut: 'This record states no opt-out; an earlier one may stand.',
    parts: {
      cmp: 'the consent platform',
      vendor_list: 'the version of the vendor list',
      publisher_country: 'the country of the publisher',
      purposes: 'the purposes',
      special_features: 'the special features',
      legitimate_interests: 'legitimate interests or restrictions, which the banner does not claim',
      vendors: 'the vendors with consent',
      disclosed_vendors: 'the vendors that were disclosed',
      more: 'further statements, which the banner does not make',
    },
  },
  reasons: {
    person: 'because the person’s data were erased',
    record: 'by an erasure of this record',
    retention: 'at the end of the retention period of the site',
  },
  invalidTime: 'not proved: the record is invalid',
  uncheckedTime: 'not checked: no root certificate of a time stamp authority was given',
  unstampedTime: 'not proved: no valid time stamp covers the record',
  erased: 'erased',
  withheld: 'withheld',
  keyLost: 'lost: the service has no key of them any more',
  notDisclosed: 'not disclosed in this file',
  notInReceipts: 'not stated in public receipts',
  noPerson: 'the record names no person',
  vouched: (values: string | null, isOfPerson: boolean) =>
    `the backend of the website vouched for ${values ?? 'the person'}, by ${isOfPerson ? 'a person token' : 'an approval token'} that was used once`,
  statedBy: {
    browser: 'an anonymous browser stated it, and nothing confirmed it',
    s2s: 'the backend of the website stated it, without an approval token',
    import: 'a former tool stated it, and nothing confirmed it',
  },
  notInFile: 'not in this file',
  textVersion: (title: string, number: string, language: string, published: string | null) =>
    `${title}, version ${number}, language ${language}${published === null ? '' : `, published on ${published}`}`,
  unknownTitle: 'unknown title',
  erasedUnmarked: 'The personal details were erased. The proof of the record stands.',
  erasureUnproved: (event: string) =>
    `An erasure in this file names the record, but it is not proved (event ${event}).`,
  erasure: (reason: string, event: string, proved: string) =>
    `The personal details were erased ${reason} (event ${event}, ${proved}). The proof of the record stands.`,
  erasureNoTime: 'not proved in time',
  erasureTime: (time: string) => `proved to be announced by ${time}`,
  successorId: (event: string, isProved: boolean) => (isProved ? `(${event})` : `(${event}), which is not proved`),
  withdrawn: (id: string, at: string) =>
    `Withdrawn by a later record of the person ${id}, made at ${at} as it states. Since then this consent permits nothing.`,
  takenBack: (id: string, at: string) =>
    `Taken back by a later record of the person ${id}, made at ${at} as it states.`,
  replaced: (decision: string, id: string, at: string) =>
    `Replaced by a later record of the person with the decision “${decision}” ${id}, made at ${at} as it states.`,
  receiptShowsNoLater: (time: string) => `A receipt does not show what was recorded after ${time}.`,
  itWasMade: 'it was made',
  provesNoLater: 'This package proves no erasure and no later record of the person, and is invalid as a whole.',
  showsNoLater: 'This package shows no erasure and no later record of the person.',
  accountShowsNoLater: 'This package shows no erasure and no later choice of the person’s account.',
  // The page.
  members: 'All members of the record',
  member: 'Record',
  unreadable: 'unreadable',
  proofFolded: 'Proof, hash by hash',
  sealedAfter: 'Sealed after',
  created: 'Created',
  personal: 'Personal details',
  personName: 'Person',
  personOpened: (n: number, id: string) => `record ${n} of the id ${id}`,
  notShown: 'Not shown',
  values: (count: number, state: string) => `${counted(count, 'value')}, ${state}`,
  allShown: 'none: all values are shown',
  exactText: 'The exact text consented to',
  proof: 'Proof',
  proofText:
    'Each hash is SHA-256. Starting from the leaf hash of the entry, each step hashes the current value with the listed hash as its left or right neighbour (RFC 9162).',
  entry: 'Entry',
  entryLine: (line: number) => `line ${line} of entries.ndjson`,
  leaf: 'Leaf',
  position: 'Position',
  positionText: (batch: number, index: number, count: string) => `batch ${batch}, index ${index} of ${count}`,
  toBatchRoot: 'Up to the root of the batch',
  batchRoot: 'Root of the batch',
  headerLeaf: 'Leaf of the batch’s header',
  toLedgerRoot: 'Up to the root of the ledger',
  ledgerRoot: 'Root of the ledger',
  signedIn: 'Signed in',
  signedInText: (file: string, size: number) => `${file}, ledger of ${counted(size, 'batch', 'batches')}`,
  timestamp: 'Time stamp',
  noStamp: 'no valid time stamp covers the record',
  stampBy: (file: string) => `${file} by `,
  noPath: (caption: string) => `${caption}: no matching path.`,
  emptyPath: (caption: string) => `${caption}: the path is empty, because the tree has one leaf.`,
  sides: { left: 'left', right: 'right' },
  checksPassed: (count: number) => `${counted(count, 'check')} of this record passed`,
  checks: 'All checks of this record',
  // Files that the person drew or sent.
  signatureText: 'The picture that the record commits to.',
  sentAs: 'Sent as',
  size: 'Size',
  bytes: (size: number) => counted(size, 'byte'),
  notAPicture: 'Not shown: the file is not a PNG, JPEG, GIF or WebP picture, or is too large. It can be saved.',
  documentSource: 'The source of the document. It is shown as text, whatever its type.',
  documentNotShown: 'Not shown: the document is not text in UTF-8, or is too long. It can be saved.',
  inPackage: 'In the package',
  // The terminal.
  terminal: {
    public: 'Record (public part)',
    personal: 'Personal details',
    person: 'person',
    text: (title: string, number: string, language: string) =>
      `Text consented to: ${title}, version ${number}, ${language}`,
    textNotShown: '(not shown: missing, changed, too long, or not UTF-8)',
    checks: 'Checks of this record',
    times: 'Proved times (by time stamp authorities that you trust)',
    claimed: 'Claimed time (by the service)',
    labels: {
      existedBy: 'existed by',
      sealedAfter: 'sealed after',
      authorities: 'authorities',
      witnesses: 'witnesses',
      created: 'created',
    },
    values: (count: number, state: string) => `${counted(count, 'value')} ${state}`,
    proofLabels: {
      entry: 'entry',
      leaf: 'leaf',
      inBatch: 'in batch',
      batchRoot: 'batch root',
      headerLeaf: 'header leaf',
      ledgerRoot: 'ledger root',
      timestamp: 'time stamp',
    },
    inBatch: (batch: number, index: number, count: string) => `${batch}, index ${index} of ${count}`,
    noPath: 'no path',
    ledgerRoot: (root: string, file: string, size: number) => `${root} (${file}, ${counted(size, 'batch', 'batches')})`,
    stampBy: (file: string, authority: string) => `${file} by ${authority}`,
  },
};
