/** Result of a check. */
export type Outcome = 'pass' | 'fail' | 'indeterminate' | 'not-applicable';

interface CheckDefinition {
  /** Description of the check in one line. */
  readonly meaning: string;
  /**
   * Whether `valid` needs it to pass (or to be not applicable). A check that fails makes the
   * verdict `invalid`, required or not.
   */
  readonly required: boolean;
}

/**
 * Every check, in the order of the report. The ids are stable: reports, tests and other programs
 * name them.
 */
export const CHECKS = {
  'container.structure': {
    meaning: 'The ZIP is unambiguous: every program that extracts it sees the same files.',
    required: true,
  },
  'container.names': {
    meaning: 'Every file name is one that a package may contain, and no two names collide.',
    required: true,
  },
  'container.limits': { meaning: 'No file exceeds the limits on size and compression ratio.', required: true },
  'container.content': {
    meaning: 'Every file decompresses to the size and checksum that the ZIP states.',
    required: true,
  },
  'manifest.format': {
    meaning: 'The manifest has this format and a version that this verifier supports.',
    required: true,
  },
  'manifest.files': {
    meaning: 'The manifest lists every file with its SHA-256, and every listed file is present and unchanged.',
    required: true,
  },
  'manifest.counts': {
    meaning: 'The package contains as many entries, consents and attachments as its manifest states.',
    required: true,
  },
  'manifest.filter': {
    meaning: 'The package discloses values only of the records and fields that the manifest states.',
    required: true,
  },
  'manifest.signature': { meaning: 'The key that the signature names signed the manifest.', required: true },
  'manifest.certificate': { meaning: 'The ledger key certifies the key that signed the manifest.', required: true },
  'ledger.key': { meaning: 'The ledger key that you gave signed the checkpoints.', required: true },
  'ledger.checkpoint': { meaning: 'Every checkpoint is well-formed and belongs to this ledger.', required: true },
  'ledger.announcement': {
    meaning: 'Every change of the ledger keys was announced in the ledger, and the old and the new keys signed that.',
    required: true,
  },
  'ledger.consistency': {
    meaning: 'Every checkpoint extends the previous one: no sealed batch was rewritten.',
    required: true,
  },
  'ledger.witnesses': {
    meaning: 'The witnesses that you trust cosigned the newest checkpoint, and no cosignature of theirs is invalid.',
    required: true,
  },
  'tst.format': { meaning: 'Every time stamp file contains one RFC 3161 token and no further bytes.', required: false },
  'tst.status': { meaning: 'The authority granted every time stamp.', required: false },
  'tst.content-type': { meaning: 'The content of every token is a TSTInfo.', required: false },
  'tst.version': {
    meaning: 'Every TSTInfo and SignerInfo has the version that its standard requires.',
    required: false,
  },
  'tst.single-signer': { meaning: 'Every token has exactly one signer.', required: false },
  'tst.signed-attributes': { meaning: 'The signed attributes bind the signature to the time stamp.', required: false },
  'tst.imprint': { meaning: 'Every time stamp covers the exact bytes of its checkpoint.', required: false },
  'tst.signer-certificate': { meaning: "The signer's certificate is available.", required: false },
  'tst.signature': { meaning: "The authority's signature is valid.", required: false },
  'tst.ess': { meaning: 'The token identifies its signing certificate by hash (ESSCertID).', required: false },
  'tst.eku': { meaning: "The signer's certificate is restricted to time stamping.", required: false },
  'tst.key-usage': { meaning: "The key usage of the signer's certificate allows signatures.", required: false },
  'tst.not-ca': { meaning: "The signer's certificate is not a CA certificate.", required: false },
  'tst.path': {
    meaning: "At the time of the stamp, the signer's certificate chained to a root that you gave.",
    required: false,
  },
  'tst.revocation': { meaning: 'No certificate of that chain was revoked.', required: false },
  'tst.algorithms': { meaning: 'The algorithms and keys are still considered sound.', required: false },
  'tst.policy': { meaning: 'The authority issued the time stamp under an accepted policy.', required: false },
  'tst.nonce': { meaning: 'The nonce in the time stamp matches the nonce of the request.', required: false },
  'tst.extensions': { meaning: 'No token has an unknown critical extension.', required: false },
  'tst.tsa-name': { meaning: "The authority's name in the token matches its certificate.", required: false },
  'tst.time': { meaning: 'The time of every stamp is before the time of verification.', required: false },
  'batch.header': { meaning: 'Every batch header is well-formed and in order.', required: true },
  'batch.inclusion': { meaning: 'Every batch is in the ledger at its stated position.', required: true },
  'batch.streams': {
    meaning: 'Every batch, and every roll-up over it, contains the stated runs of events.',
    required: true,
  },
  'batch.tags': {
    meaning: 'Every batch, and every roll-up over it, lists the tag of each of its consents and erasures.',
    required: true,
  },
  'entry.format': { meaning: 'Every entry is strict JSON in canonical form.', required: true },
  'entry.order': { meaning: 'Entries are in order, and no two entries contradict each other.', required: true },
  'entry.chain': { meaning: 'Every entry contains the hash of the previous entry of its stream.', required: true },
  'entry.stream': { meaning: 'Every entry is in the stream of its site and type.', required: true },
  'entry.inclusion': { meaning: 'Every entry is in its batch at its stated position.', required: true },
  'record.format': { meaning: 'Every record has exactly the published fields.', required: true },
  'record.proof-hash': {
    meaning: 'The keyed proof hash matches the record (only the tenant can check it).',
    required: false,
  },
  'disclosure.digest': { meaning: 'The record commits to every disclosed value.', required: true },
  'disclosure.salt': { meaning: 'No two disclosed values of the package share a salt.', required: false },
  'disclosure.attachment': { meaning: 'Every disclosed attachment is included and unchanged.', required: true },
  'disclosure.person': {
    meaning: 'A receipt that names the person opens the person tag of its record.',
    required: true,
  },
  'disclosure.complete': {
    meaning: 'If the manifest states that all values are disclosed, the package withholds none.',
    required: true,
  },
  'disclosure.withheld': { meaning: 'Values that the package does not disclose.', required: false },
  'document.version': {
    meaning: 'The package includes the text consented to and proves its publication.',
    required: true,
  },
  'document.configuration': {
    meaning: "The package includes the site's configuration and proves its publication.",
    required: true,
  },
  'document.in-force': {
    meaning: 'The text and the configuration were in force at the consent, which meets what they require.',
    required: true,
  },
  'erasure.proof': {
    meaning: 'A proved erasure in the package names every record that is marked as erased.',
    required: true,
  },
  'erasure.values': { meaning: 'The package discloses no value of an erased record.', required: true },
  'erasure.absent': {
    meaning: 'A package with a filter leaves out no erasure of a record that it contains.',
    required: true,
  },
  'completeness.runs': {
    meaning: 'No event is missing within the runs that the package claims to be complete, or at the end of a stream.',
    required: true,
  },
  'completeness.policies': {
    meaning: 'The package contains every policy of the ledger that its batch headers count.',
    required: true,
  },
  'completeness.events': {
    meaning: 'The package contains every record that was requested by its event id.',
    required: true,
  },
  'completeness.person': {
    meaning: 'A package for a person contains every record that the ledger has of the person.',
    required: true,
  },
  'time.stamped': { meaning: 'A valid time stamp covers every entry.', required: true },
  'time.order': { meaning: 'The time stamps of later checkpoints do not have earlier times.', required: true },
  'time.claimed': {
    meaning: "The claimed times agree with the time stamps, and with the ledger's policy.",
    required: true,
  },
  'time.start': {
    meaning: 'Every batch names the newest time stamp that existed when it was sealed.',
    required: true,
  },
  'time.fresh': { meaning: 'The package shows the ledger as of the time at which it was made.', required: true },
  'promise.kept': {
    meaning: 'The ledger holds every record that a promise given to the verifier names.',
    required: true,
  },
  'package.records': { meaning: 'The package contains at least one consent record.', required: true },
} as const satisfies Record<string, CheckDefinition>;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS: readonly CheckId[] = Object.keys(CHECKS).filter((id): id is CheckId => id in CHECKS);
