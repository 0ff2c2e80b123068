import * as z from 'zod';
import { BytesFromBase64, Count, Instant, KeyLine, Sha256Hex, StreamName } from '../evidence/primitives.js';

/** The first event of a log: its identity. */
export const LOG_STARTED = 'LogStarted.v1';
export const LEDGER_KEY_PUBLISHED = 'LedgerKeyPublished.v1';
export const BATCH_SEALED = 'BatchSealed.v1';
export const CHECKPOINT_STAMPED = 'CheckpointStamped.v1';

export const LEDGER_RESTORED = 'LedgerRestored.v1';

/**
 * An operator accepted that a restore lost the end of the ledger. Batches from here on were sealed twice, with
 * different contents.
 */
export const LedgerRestoredBody = z.strictObject({
  v: z.literal(1),
  created_at: Instant,
  /**
   * Size of the ledger after which nothing of the lost part is kept; if it is `head.size`, the two
   * diverge below it.
   */
  lost_from_size: Count,
  /** How far the ledger had come before. */
  head: z.strictObject({ size: Count, root: Sha256Hex, revision: z.int().min(-1), key: z.string().nullable() }),
});
export type LedgerRestoredBody = z.infer<typeof LedgerRestoredBody>;

export const LEDGER_EVENT_SKIPPED = 'LedgerEventSkipped.v1';

/**
 * An operator decided that an earlier event of `ledger`, which no worker can apply, is to be ignored. It stays in the
 * stream.
 */
export const LedgerEventSkippedBody = z.strictObject({
  v: z.literal(1),
  created_at: Instant,
  /** Revision of the event in `ledger`. */
  revision: Count,
  event_id: z.uuid(),
  type: z.string(),
  /** SHA-256 of the body of that event. */
  sha256: Sha256Hex,
  /** Why it cannot be applied. */
  reason: z.string(),
});
export type LedgerEventSkippedBody = z.infer<typeof LedgerEventSkippedBody>;

export const EVIDENCE_KEPT = 'EvidenceKept.v1';

/** Number of bytes of one part. With base64 and the rest of its event, one append accepts the part. */
export const EVIDENCE_PART_BYTES = 512 * 1024;

/** Kinds of such data: what was collected with a time stamp, and the exact bytes of a published document version. */
const EVIDENCE_KINDS = ['certificate', 'crl', 'ocsp', 'notice'] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/**
 * A part of what evidence needs in addition to the entries and the tree, so that the log alone can restore it. All
 * parts precede the `CheckpointStamped` whose evidence needs them. What the ledger already has is not added again.
 */
export const EvidenceKeptBody = z
  .strictObject({
    v: z.literal(1),
    kind: z.enum(EVIDENCE_KINDS),
    /** Digest of the whole item. */
    sha256: Sha256Hex,
    /** Place of this part, from 0. */
    part: Count,
    parts: z.int().min(1).max(64),
    data: BytesFromBase64.refine(
      ({ length }) => length > 0 && length <= EVIDENCE_PART_BYTES,
      'a part has 1 to 524,288 bytes',
    ),
  })
  .refine(({ part, parts }) => part < parts, 'the number of the part is not below that of all parts');
export type EvidenceKeptBody = z.infer<typeof EvidenceKeptBody>;

/** The first event of `ledger`: its first keys. Later ones are announced in the stream `policy`. */
export const LedgerKeyPublishedBody = z.strictObject({
  v: z.literal(1),
  created_at: Instant,
  /** Verifier-key line of the first key that signs checkpoints; its name is the ledger's origin. */
  key: z.string(),
  /** Verifier-key line of its ML-DSA-44 key, which also signs. */
  ml_dsa_key: z.string(),
  /**
   * Secret from which the salts of sites are derived (`siteSalt`), 32 bytes. With it, the log alone can restore the
   * source of the keys of streams.
   */
  salt_key: BytesFromBase64,
});
export type LedgerKeyPublishedBody = z.infer<typeof LedgerKeyPublishedBody>;

/** A batch, or a roll-up (without runs and tags), enters the ledger tree. */
export const BatchSealedBody = z.strictObject({
  /** JCS(BatchHeader), as text. */
  header: z.string(),
  /** The leaves in order, as runs `[stream, first revision, last revision]`, one for each stream. */
  runs: z.array(z.tuple([StreamName, Count, Count])),
  /**
   * The tags of the consents and erasures among the leaves, in order, 32 bytes each. They are nowhere else in the log.
   */
  tags: BytesFromBase64,
  /**
   * The announcement of the next keys among the leaves, by its revision in `policy`. So this stream alone
   * says which keys sign a checkpoint.
   */
  announced: z.strictObject({ revision: Count, key: KeyLine, ml_dsa_key: KeyLine }).exactOptional(),
});
export type BatchSealedBody = z.infer<typeof BatchSealedBody>;

/** Maximum number of time stamps of one checkpoint. */
export const MAX_TOKENS = 9;

/**
 * The checkpoint of one size received a time stamp. It counts as stamped from the event whose `number` reaches
 * `quorum`. Until then no other checkpoint receives a time stamp.
 */
export const CheckpointStampedBody = z.strictObject({
  v: z.literal(1),
  size: Count,
  /** Number of this time stamp among those of the checkpoint, in the order in which they were obtained, from 1. */
  number: z.int().min(1).max(MAX_TOKENS),
  /** How many authorities had to stamp a checkpoint when this time stamp was obtained. */
  quorum: z.int().min(1).max(MAX_TOKENS),
  /** The note's exact text, whose bytes are stamped. It is the same for every time stamp of a size. */
  note: z.string(),
  /** The TimeStampResp as received. */
  tsr: BytesFromBase64,
  authority: z.string().max(500),
  /** Organization of the trust anchor. Time stamps with the same organization come from the same authority. */
  organization: z.string().max(2000),
  gen_time: Instant,
  /** SHA-256 of what was collected when the stamp was obtained. `EvidenceKept` has the bytes. */
  certificates: z.array(Sha256Hex),
  crls: z.array(Sha256Hex),
  ocsp: z.array(Sha256Hex),
});
export type CheckpointStampedBody = z.infer<typeof CheckpointStampedBody>;
