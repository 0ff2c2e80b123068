import type { CheckId } from './check-table.js';

/** When a check does not pass, in the words of docs/evidence-format.md, whose sections § are. */
export interface CheckRule {
  /** Conditions under which the check fails; null if it never fails. */
  readonly fails: string | null;
  /** Conditions under which the check stays open; null if it never stays open. */
  readonly opens: string | null;
}

/**
 * The rule of every check: the table of docs/evidence-format.md §13, which tells an implementer what
 * to refuse, and a reader of a report what was found.
 */
export const CHECK_RULES = {
  'container.structure': {
    fails:
      'The ZIP breaks a rule of §3 on offsets, headers, flags, methods, extra fields or end records. A receipt is not written in the one form of §16, or has a file that is not base64.',
    opens: null,
  },
  'container.names': {
    fails: 'A name is not in the table of §3, or is there twice.',
    opens: 'A file is under `ext/` (§17).',
  },
  'container.limits': { fails: 'The package exceeds a limit of §14.', opens: null },
  'container.content': {
    fails: 'A file cannot be decompressed, or has another size or CRC-32 than the ZIP states.',
    opens: null,
  },
  'manifest.format': {
    fails:
      '`manifest.json` is missing, is not strict JSON, does not have its shape (§10), or is of the other kind of file. A receipt is not of one record (§16).',
    opens: 'Its minor version is newer (§17).',
  },
  'manifest.files': {
    fails:
      'A file is not listed, or a listed one is missing, unreadable or has another SHA-256. A file that is named by a hash has another one. The manifest lists an attachment, itself or its signature. No disclosure names an attachment, or no entry needs a notice, a file of proofs or a file of tags (§3).',
    opens: 'The manifest is missing or not known, or an unknown event may name the attachment or the notice (§17).',
  },
  'manifest.counts': {
    fails:
      'The package has another number of entries, consents, erased records, records with `key_lost` or attachments than `counts` states. An erased record is one whose line has `erased`.',
    opens: 'The manifest is missing or not known, or unknown events may be the missing ones (§17).',
  },
  'manifest.filter': {
    fails:
      'A value is disclosed of a consent that does not match `filter`, of a field that `disclose` does not name, or, if `filter.person.records` is a number, of a consent without a tag of the person (§10).',
    opens: null,
  },
  'manifest.signature': {
    fails:
      '`manifest.json.jws` is missing, has another form than §10 states, or its signature over `manifest.json` is invalid.',
    opens: 'The time of verification is 2036-01-01 or later: the signature is of Ed25519 (§9).',
  },
  'manifest.certificate': {
    fails:
      'The certificate is malformed, or is for another key or origin. The signature of a given key is invalid, or a trusted key signed it that is not in force at the newest checkpoint, or none of the given keys and their successors signed it.',
    opens:
      'There is no signature, no ledger key is given, only another key of the ledger’s name signed the newest checkpoint, or only an announcement that is not proved explains who signed (§8).',
  },
  'ledger.key': {
    fails:
      'No given key has the name of the ledger. A signature by a given key or by an announced one is invalid. No key in force at its size signed a checkpoint, or no trusted key signed the newest one (§8).',
    opens:
      'No ledger key is given, the algorithms of all given ones are past their dates (§9), the package has no checkpoint, only another key of the ledger’s name signed the newest one, or only an announcement that is not proved explains who signed (§8).',
  },
  'ledger.checkpoint': {
    fails:
      'A note is malformed, or has another origin than the manifest or another size than its name. A response has no note. The checkpoint in the manifest is not the newest in the package, or is null although there is one.',
    opens: 'The manifest names no checkpoint, and the package has none.',
  },
  'ledger.announcement': {
    fails:
      'An announcement is malformed, is of another ledger or of keys that were in force before, or is not in the ledger of the first checkpoint over its batch. The keys announced before it, or its own, did not sign that checkpoint (§8).',
    opens: 'A part of its proof is missing, or has an unknown version (§17).',
  },
  'ledger.consistency': {
    fails: 'A proof is invalid, is repeated, or is not between two neighbouring sizes of the package (§7).',
    opens: 'The proof between two neighbouring sizes is missing.',
  },
  'ledger.witnesses': {
    fails:
      'A file of cosignatures is malformed or has no checkpoint, a cosignature of a given key is invalid, or a given key has two lines in one file (§7.1).',
    opens:
      'Fewer given witnesses than required cosigned the newest checkpoint, they do not meet the quorum of the trust policy, or a cosignature states a time more than 300 s after the time of verification (§7.1).',
  },
  'tst.format': {
    fails: 'The file is not one TimeStampResp or token (RFC 3161, RFC 5652), or has bytes after it.',
    opens: 'A checkpoint has no time stamp.',
  },
  'tst.status': { fails: 'The status is neither 0 nor 1, or there is no token.', opens: null },
  'tst.content-type': {
    fails: 'The token is not SignedData, or its content is not a TSTInfo (1.2.840.113549.1.9.16.1.4).',
    opens: null,
  },
  'tst.version': {
    fails:
      'TSTInfo does not have version 1, or a SignerInfo does not have the version that RFC 5652 §5.3 demands (§9).',
    opens: null,
  },
  'tst.single-signer': { fails: 'There is no SignerInfo, or more than one.', opens: null },
  'tst.signed-attributes': {
    fails:
      'The signed attributes are missing, malformed or repeated, the content-type is not that of TSTInfo, or the message-digest is not the digest of the content.',
    opens: 'The verifier does not know the digest algorithm.',
  },
  'tst.imprint': {
    fails: 'The imprint is not the digest of the note, or the parameters of its hash are malformed.',
    opens: 'The verifier does not know the hash, or the hash is past its date (§9).',
  },
  'tst.signer-certificate': {
    fails: null,
    opens:
      'No certificate of token and package has the issuer and serial number, or the key identifier, of SignerInfo.',
  },
  'tst.signature': {
    fails:
      'There are no signed attributes, or the signature over them is invalid, both in their order and sorted as in DER. The algorithm is malformed, uses another hash than the digest algorithm (RFC 8933), or is not allowed for the key.',
    opens: 'The verifier does not support the algorithm or the type of key.',
  },
  'tst.ess': {
    fails:
      'There is neither ESSCertID nor ESSCertIDv2 (RFC 5816), or one of them has another hash, issuer or serial number than the signer’s certificate.',
    opens: 'The hash of one of them is MD5, or is not known.',
  },
  'tst.eku': {
    fails:
      'The extended key usage of the signer’s certificate is missing, not critical, or anything but time stamping alone (RFC 3161 §2.3).',
    opens: null,
  },
  'tst.key-usage': {
    fails:
      'The certificate has a key usage that includes neither digitalSignature nor nonRepudiation, or includes anything else.',
    opens: null,
  },
  'tst.not-ca': { fails: 'The certificate states that it is a CA, or is older than X.509 version 3.', opens: null },
  'tst.path': {
    fails:
      'Each path to a given root breaks a rule of RFC 5280 §6.1 at genTime, with the exceptions of §9, or the search exceeds its limits or, for a token that is verified by itself, the limit of work (§14). There is none, and a path ends at a self-signed certificate that was not given, or the issuer that a certificate names did not sign it.',
    opens:
      'No readable root is given, or no path leads to one although nothing in it is wrong. A rule of §9 leaves it open. A certificate has an algorithm that the verifier does not support.',
  },
  'tst.revocation': {
    fails: 'A certificate of the path was revoked (§9, “Revocation”).',
    opens: 'The revocation of a certificate of the path is indeterminate (§9, “Revocation”), or there is no path.',
  },
  'tst.algorithms': {
    fails: null,
    opens:
      'An algorithm or key of the token or the path is past its date, or the stamp is past the end of its soundness, and no newer stamp renews it (§9). No signature was verified.',
  },
  'tst.policy': { fails: 'The verifying person named policies (`--policy`), and the token has another.', opens: null },
  'tst.nonce': {
    fails: 'The verifying person gave a nonce (`--nonce`), and the token has another or none.',
    opens: null,
  },
  'tst.extensions': { fails: 'TSTInfo has a critical extension.', opens: null },
  'tst.tsa-name': {
    fails: 'TSTInfo names an authority that is neither subject nor alternative name of the signer’s certificate.',
    opens: null,
  },
  'tst.time': {
    fails: 'genTime, less the accuracy, is more than 60 s after the time of verification.',
    opens: null,
  },
  'batch.header': {
    fails:
      'A header does not have its shape, is not canonical, is longer than 2,000 characters, or has counts and numbers that no batch can have (§6). Numbers do not increase from line to line. `sealed_at` is earlier, or `after` is smaller, than that of an earlier batch, or `after` is larger than `number`. A roll-up counts fewer entries than the batches under it in the package.',
    opens: 'Its `v` is not known (§17).',
  },
  'batch.inclusion': {
    fails: 'The path of a batch does not lead to the root of the newest checkpoint.',
    opens: 'The package has no checkpoint that covers the batch.',
  },
  'batch.streams': {
    fails:
      'The runs and hashes of a batch do not lead to `streams_root`, or are not sorted, or do not tile it (§6). A batch does not show what it has of each stream of the package, with the leaves beside it; or its runs contradict those of another batch, or a roll-up lacks a stream of a batch under it (§6, “Agreement of runs”). The batch of an entry, or a roll-up over it below the checkpoint, is missing or does not show a run that has the revision.',
    opens: 'The version of a roll-up over an entry is not known, or the manifest is not known or states no salt (§17).',
  },
  'batch.tags': {
    fails:
      'The tags and hashes of a batch are not in order, or do not lead to `tags_root`. The batch of a consent or erasure, or a roll-up over it below the checkpoint, does not show the tag (§6). Two entries have one tag. A roll-up counts fewer tags than the batches under it in the package.',
    opens: 'The version of a batch is not known (§17).',
  },
  'entry.format': {
    fails:
      'A line or its entry is not strict JSON with its shape, the entry is not canonical, or its type demands or forbids `proof_hash` or `person_tag` (§4).',
    opens: 'Its `v` is not known (§17).',
  },
  'entry.order': {
    fails:
      'Entries are not sorted by stream and revision, two have one place, a higher revision of a stream is not later in the ledger, or two have one event id.',
    opens: null,
  },
  'entry.chain': {
    fails:
      '`previous` is null above revision 0, or is not null at 0, or is not the leaf hash of the entry with the previous revision, if the package has it. A previous entry that is invalid is not compared.',
    opens: 'The version of the previous entry is not known (§17).',
  },
  'entry.stream': {
    fails:
      'The stream is not that of the site and the type, is of another site than `filter.site_id`, or the record states another site or event id than stream and entry.',
    opens: 'Type or version of the event are not known (§17).',
  },
  'entry.inclusion': {
    fails:
      'The batch is not in the package, `index` is not `start + revision − first` of the run, the leaf is not at this index under `root`, or the file of proofs is malformed (§6).',
    opens: 'The batch failed its checks, or its version is not known (§17).',
  },
  'record.format': {
    fails:
      'The record does not have the shape of its type (§11). `valid_until` is before `created_at`. `vouched`, `approval_token_id` and `identity_assurance` do not agree. `number` of a policy is not its revision plus 1.',
    opens: 'Type, `v` or `hash_version` are not known (§17).',
  },
  'record.proof-hash': { fails: null, opens: 'Always, for a consent: only the tenant has the proof key.' },
  'disclosure.digest': {
    fails:
      'A disclosure is malformed, has a name that is not in the list of §5, or has the name or salt of another one of the record. Its digest is not the one that the record has under this name, or its value does not have the published type. The entry is not a consent.',
    opens: null,
  },
  'disclosure.salt': {
    fails: 'Values of two records have the same salt.',
    opens: 'The package discloses more than 4,194,304 values: the salts of the others are not compared.',
  },
  'disclosure.attachment': {
    fails:
      'The value that refers to an attachment is malformed, or the file is missing, too long, or has another hash or size.',
    opens: null,
  },
  'disclosure.person': {
    fails:
      'A line has `person` outside a receipt, without a disclosed `visitor_id` that is not empty, or for an erased record. The tag of `id` and `n` is not that of the entry, or `n` is above its revision plus 1 (§16).',
    opens: 'A receipt discloses a `visitor_id` that is not empty, and has no `person` (§16).',
  },
  'disclosure.complete': {
    fails: null,
    opens:
      '`disclose` is `all`, and a value is withheld of a record that matches the filter, is not erased, and does not have `key_lost`.',
  },
  'disclosure.withheld': { fails: 'A line with `key_lost` has `erased` or discloses a value.', opens: null },
  'document.version': {
    fails:
      'The file of the text is missing or changed. Its publication is not in the package, is there twice, failed its checks, or is of another text, site or language (§11).',
    opens: 'The checks of the publication are open, or an unknown notice may be it (§17).',
  },
  'document.configuration': {
    fails:
      'The file of the configuration is missing or changed. Its publication is not in the package, failed its checks, is of another site, or lacks a category that the consent names (§11).',
    opens: 'The checks of the publication are open, or an unknown event may be it (§17).',
  },
  'document.in-force': {
    fails: 'A rule of §11 (“In force”) is broken.',
    opens: 'A missing or unknown notice could explain a breach of rules 4 to 6 of §11, or cause one.',
  },
  'erasure.proof': {
    fails:
      '`erased` of a line names no erasure of the package, or one of another stream, an earlier revision, another record, or with failed checks. The erasure of a record does not have the tag of §6.',
    opens: 'The checks of the erasure are open, or its version is not known (§17).',
  },
  'erasure.values': {
    fails: 'A value is disclosed of a record that is marked as erased or that an erasure in the package names.',
    opens: null,
  },
  'erasure.absent': {
    fails:
      'In a package with a filter, a record that matches it and is not erased: neither has the package all later events of its stream, nor does each leaf of the cover from its batch on show that the erasure tag is absent (§6).',
    opens: 'An unknown event or batch may be or have the erasure (§17).',
  },
  'completeness.runs': {
    fails:
      'A revision of a run in `complete` is missing, two runs overlap, or one is empty. The package does not have a stream that it must have as a whole (§10), or does not show where it ends (§6).',
    opens: 'An entry of the run, or a header of the cover, has an unknown version (§17).',
  },
  'completeness.policies': {
    fails:
      'A header counts another number of policies than the package has up to it, or the last leaf below the checkpoint is missing (§6).',
    opens: 'The last leaf has an unknown version or failed its checks.',
  },
  'completeness.events': { fails: null, opens: 'A record that `event_ids` names is not in the package.' },
  'completeness.person': {
    fails:
      'A consent with one of the tags 1 to `records` is missing, or the package does not show that every leaf of the cover lacks the next tag. The disclosed values of `visitor_id` differ. `records` is null without a further restriction, or above 0 without an `id` (§10). A record names another person than the one that the verifying person asked about (`--person`).',
    opens:
      '`records` is 0, a record of the person does not disclose `visitor_id`, is not erased, and does not have `key_lost`, or an unknown event or batch may be or have a further record (§17). The verifying person asked about a person, and the package is not for one person.',
  },
  'time.stamped': {
    fails: null,
    opens: 'Fewer distinct authorities than required have a valid stamp over the batch of an entry (§9).',
  },
  'time.order': {
    fails:
      'The genTimes of valid stamps decrease with increasing size by more than the accuracies and one second (§9).',
    opens: null,
  },
  'time.claimed': {
    fails:
      '`created_at` or `sealed_at` is later than a time stamp allows (§9, “Claimed times”). `exported_at` is more than 300 s, and the accuracy, before the newest valid stamp.',
    opens: '`created_at` is earlier than the delays of the policy allow, or batch 0 was stamped late (§9).',
  },
  'time.start': {
    fails:
      'Stamps of the checkpoint in `after` are in the package, and none has the digest in `after` (§9, “Older stamps”).',
    opens: 'A batch names no stamp, or not the newest one, and the package does not explain it (§9, “Older stamps”).',
  },
  'time.fresh': {
    fails: '`exported_at` is more than 300 s after the time of verification.',
    opens: 'The newest stamp over the checkpoint is too old (§9, “State of the package”).',
  },
  'promise.kept': {
    fails: 'A genuine promise is broken (§15).',
    opens: 'A promise was kept late, is overdue, is not covered by the package, or is not verified (§15).',
  },
  'package.records': { fails: null, opens: 'The package contains no consent.' },
} as const satisfies Record<CheckId, CheckRule>;

/** Checks that can fail. */
export type FailingCheck = ChecksWith<'fails'>;

/** Checks that can stay open. */
export type OpenableCheck = ChecksWith<'opens'>;

type ChecksWith<Rule extends keyof CheckRule> = {
  [Id in CheckId]: (typeof CHECK_RULES)[Id][Rule] extends null ? never : Id;
}[CheckId];
