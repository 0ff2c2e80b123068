/** What a check found. */
export type Outcome = 'pass' | 'fail' | 'indeterminate' | 'not-applicable';

interface CheckDefinition {
  /** What the check asks, in one line. */
  readonly meaning: string;
  /** Whether `valid` needs it to pass (or to be not applicable). A check that fails makes the verdict `invalid`, required or not. */
  readonly required: boolean;
}

/**
 * Every check, in the order of the report. The ids are stable: reports, tests and other programs name them.
 */
export const CHECKS = {
  'container.structure': {
    meaning: 'The ZIP is unambiguous: every program that unpacks it sees the same files.',
    required: true,
  },
  'container.names': {
    meaning: 'Every file has a name that a package may hold, and no two names collide.',
    required: true,
  },
  'container.limits': { meaning: 'No file is larger or packed more tightly than a package needs.', required: true },
  'container.content': { meaning: 'Every file unpacks to the size and checksum that the ZIP states.', required: true },
  'manifest.format': {
    meaning: 'The manifest is of this format and a version that this verifier knows.',
    required: true,
  },
  'manifest.files': {
    meaning: 'Every file is listed with its SHA-256, and every listed file is there unchanged.',
    required: true,
  },
  'manifest.counts': {
    meaning: 'The package holds as many entries, consents and attachments as its manifest says.',
    required: true,
  },
  'manifest.filter': {
    meaning: 'Values are shown of no other records, and of no other fields, than the manifest says.',
    required: true,
  },
  'manifest.signature': { meaning: 'The manifest is signed by the key that its signature names.', required: true },
  'manifest.certificate': { meaning: "That key is certified by the ledger's key.", required: true },
  'ledger.key': { meaning: "The checkpoints are signed by the ledger's key that you gave.", required: true },
  'ledger.checkpoint': { meaning: 'Every checkpoint is well formed and belongs to this ledger.', required: true },
  'ledger.bridge': { meaning: 'Every change of the ledger key is signed by the old and the new key.', required: true },
  'ledger.consistency': {
    meaning: 'Every checkpoint extends the one before it: nothing sealed was rewritten.',
    required: true,
  },
  'tst.format': { meaning: 'Every time stamp is one RFC 3161 token, with nothing after it.', required: false },
  'tst.status': { meaning: 'The authority granted every time stamp.', required: false },
  'tst.content-type': { meaning: 'Every token contains a time stamp and nothing else.', required: false },
  'tst.version': { meaning: 'Every time stamp is of version 1.', required: false },
  'tst.single-signer': { meaning: 'Every token has exactly one signer.', required: false },
  'tst.signed-attributes': { meaning: 'The signed attributes bind the signature to the time stamp.', required: false },
  'tst.imprint': { meaning: 'Every time stamp is over the exact bytes of its checkpoint.', required: false },
  'tst.signer-certificate': { meaning: "The signer's certificate is at hand.", required: false },
  'tst.signature': { meaning: "The authority's signature is right.", required: false },
  'tst.ess': { meaning: 'The token names the very certificate that signed it (ESSCertID).', required: false },
  'tst.eku': { meaning: "The signer's certificate is for time stamping, and for nothing else.", required: false },
  'tst.key-usage': { meaning: "The key of the signer's certificate may sign.", required: false },
  'tst.not-ca': { meaning: "The signer's certificate is not that of a certification authority.", required: false },
  'tst.path': {
    meaning: "The signer's certificate led to a root that you gave, at the time of the stamp.",
    required: false,
  },
  'tst.revocation': { meaning: 'No certificate on that way had been revoked.', required: false },
  'tst.algorithms': { meaning: 'The algorithms and keys are still held to be sound.', required: false },
  'tst.policy': { meaning: 'The time stamp was issued under an accepted policy.', required: false },
  'tst.nonce': { meaning: 'The time stamp answers the request that was made.', required: false },
  'tst.extensions': { meaning: 'No unknown critical extension changes what a token means.', required: false },
  'tst.tsa-name': { meaning: "The authority's name in the token fits its certificate.", required: false },
  'tst.time': { meaning: 'The time of every stamp is possible.', required: false },
  'batch.header': { meaning: 'Every batch header is well formed and in order.', required: true },
  'batch.inclusion': { meaning: 'Every batch is in the ledger at the place that it claims.', required: true },
  'batch.streams': { meaning: 'Every batch holds the runs of events that it claims.', required: true },
  'entry.format': { meaning: 'Every entry is strict JSON in its one canonical form.', required: true },
  'entry.order': { meaning: 'Entries stand in order, and none contradicts another.', required: true },
  'entry.chain': { meaning: 'Every entry names the one before it in its stream.', required: true },
  'entry.stream': { meaning: 'Every entry stands in a stream of its own site and kind.', required: true },
  'entry.inclusion': { meaning: 'Every entry is in its batch at the place that it claims.', required: true },
  'record.format': { meaning: 'Every record has exactly the published fields.', required: true },
  'record.proof-hash': {
    meaning: "The keyed proof hash fits the record (only the service's tenant can check it).",
    required: false,
  },
  'disclosure.digest': { meaning: 'Every disclosed value is one that the record commits to.', required: true },
  'disclosure.salt': { meaning: 'No two disclosed values of the package share a salt.', required: false },
  'disclosure.attachment': { meaning: 'Every disclosed attachment is enclosed, unchanged.', required: true },
  'disclosure.withheld': { meaning: 'Values that the package does not show.', required: false },
  'document.version': { meaning: 'The text consented to is enclosed, and its publication is proved.', required: true },
  'document.configuration': {
    meaning: "The site's configuration is enclosed, and its publication is proved.",
    required: true,
  },
  'erasure.proof': {
    meaning: 'Every record that is called erased is listed in an enclosed, proved erasure.',
    required: true,
  },
  'erasure.values': { meaning: 'No value of an erased record is disclosed.', required: true },
  'completeness.runs': {
    meaning: 'No event is missing within the runs that the package calls complete.',
    required: true,
  },
  'time.stamped': { meaning: 'Every entry is covered by a time stamp that holds.', required: true },
  'time.order': { meaning: 'Later checkpoints do not bear earlier times.', required: true },
  'time.claimed': { meaning: 'The service claims no time that the stamps contradict.', required: true },
  'time.start': { meaning: 'The sealing of every batch came after an earlier stamp.', required: false },
  'package.records': { meaning: 'The package holds at least one consent record.', required: true },
} as const satisfies Record<string, CheckDefinition>;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS: readonly CheckId[] = Object.keys(CHECKS).filter((id): id is CheckId => id in CHECKS);
