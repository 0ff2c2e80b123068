/*
 * A contradiction proof: statements signed by one ledger key that an honest ledger does not make together
 * (docs/evidence-format.md §12). `kind` names the two kinds of statements. Anyone who trusts the key can check the file
 * alone.
 *
 * - Each part is proved down to a signed note: an entry to its batch, the batch to the ledger tree, the tree to a
 *   checkpoint.
 * - `first` and `second` are both genuine. Only together do they show that the ledger is dishonest or was attacked.
 *
 * For example, two checkpoints of one size: the root of `first` is that of checkpoint.ts, and the root of `second` is
 * another. `…` stands for the rest of each note, an empty line and the signature lines:
 *
 *   {"announcements":[],"first":"ledger.example/1\n1\nHaqdfRvDeoFzeApDpY+70NrFxVnlt++cX09MOrLmwrY=\n…",
 *    "format":"consent-ledger-contradiction","kind":"checkpoints",
 *    "second":"ledger.example/1\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n…","version":1}
 */
import * as z from 'zod';
import { RunPlace } from './batch-header.js';
import { PersonOpening } from './person-tag.js';
import { Count, HashFromHex } from './primitives.js';
import { SignedPromise } from './promise.js';

/** Maximum number of announcements of keys that a verifier follows. */
export const MAX_ANNOUNCEMENTS = 100;

const Note = z.string().max(1024 * 1024);
const Path = z.array(HashFromHex).max(64);
/** A batch, proved to be in the ledger of a checkpoint. */
const ProvedBatch = z.strictObject({ note: Note, header: z.string().max(100_000), path: Path });
export type ProvedBatch = z.output<typeof ProvedBatch>;
/** An entry, proved to be in a batch that is proved to be in the ledger of a checkpoint. */
export const ProvedEntry = z.strictObject({
  ...ProvedBatch.shape,
  entry: z.string().max(4 * 1024 * 1024),
  index: Count,
  entry_path: Path,
});
export type ProvedEntry = z.output<typeof ProvedEntry>;
/** As it is written: hashes are hex. */
export type ProvedEntryFile = z.input<typeof ProvedEntry>;
/** Announcements of the next keys of a ledger, in the order of the ledger. */
export const ProvedAnnouncements = z.array(ProvedEntry).max(MAX_ANNOUNCEMENTS);
/** Leaves under `streams_root` or `tags_root` of a batch, proved to be in it. */
const ProvedLeaves = z.strictObject({
  ...ProvedBatch.shape,
  tree: z.enum(['streams', 'tags']),
  /** Stream keys with their runs, or tags, sorted by index. Empty for an empty tree. */
  leaves: z.array(z.strictObject({ index: Count, key: HashFromHex, run: RunPlace.optional() })).max(4),
  /** The hashes beside them (`rootOfShown`). */
  hashes: z.array(HashFromHex).max(256),
});
export type ProvedLeaves = z.output<typeof ProvedLeaves>;
/** The run of a stream in a batch or roll-up, proved to be in it. */
const ProvedRun = z.strictObject({
  ...ProvedBatch.shape,
  /** Index of the leaf under `streams_root`. */
  index: Count,
  run: z.strictObject({ key: HashFromHex, ...RunPlace.shape }),
  /** The hashes beside it (`rootOfShown`). */
  hashes: z.array(HashFromHex).max(64),
});
export type ProvedRun = z.output<typeof ProvedRun>;
/** Longest manifest that a proof holds, in characters: a larger one remains in its package. */
export const MAX_PROVED_MANIFEST = 4 * 1024 * 1024;
/** A consent, proved to be sealed, with what opens it. */
const ProvedPerson = z.strictObject({
  ...ProvedEntry.shape,
  /** The disclosure of `visitor_id`. */
  disclosure: z.string().max(4 * 1024 * 1024),
  /** Opening of the person tag, or null if it is not known. */
  person: PersonOpening.nullable(),
});
export type ProvedPerson = z.output<typeof ProvedPerson>;
export const ProvedPersons = z.array(ProvedPerson);
export type ProvedPersonsFile = z.input<typeof ProvedPersons>;
/** A manifest with its signature. */
const ProvedManifest = z.strictObject({
  /** Exact text of `manifest.json`. */
  manifest: z.string().max(MAX_PROVED_MANIFEST),
  /** Exact text of `manifest.json.jws`. */
  signature: z.string().max(16_384),
});
export type ProvedManifest = z.output<typeof ProvedManifest>;
const Common = {
  format: z.literal('consent-ledger-contradiction'),
  version: z.literal(1),
  /**
   * Announcements of the ledger's next keys, each under a checkpoint that the keys before and after signed:
   * a verifier that trusts an older key can check newer notes.
   */
  announcements: ProvedAnnouncements,
};

/**
 * Proof that a ledger contradicts itself: two statements, signed by its key, that no honest ledger makes together.
 */
export const Contradiction = z.discriminatedUnion('kind', [
  /** Two checkpoints of one size with different roots. */
  z.strictObject({ ...Common, kind: z.literal('checkpoints'), first: Note, second: Note }),
  /**
   * A checkpoint that is not the beginning of a larger one: `path` leads to the larger root, and to
   * another smaller one.
   */
  z.strictObject({ ...Common, kind: z.literal('rewritten'), first: Note, second: Note, path: Path }),
  /** Two batches with one number. */
  z.strictObject({ ...Common, kind: z.literal('batches'), first: ProvedBatch, second: ProvedBatch }),
  /** A promise, and an entry with the promised event id and another record. */
  z.strictObject({ ...Common, kind: z.literal('promise'), promise: SignedPromise, second: ProvedEntry }),
  /** Two entries for one stream and revision. */
  z.strictObject({ ...Common, kind: z.literal('entries'), first: ProvedEntry, second: ProvedEntry }),
  /**
   * Two views of one sorted tree that no sorted tree has, a batch with a stream or tag that the roll-up
   * over it lacks, or two batches with one tag.
   */
  z.strictObject({ ...Common, kind: z.literal('leaves'), first: ProvedLeaves, second: ProvedLeaves }),
  /**
   * Two runs of one stream that cannot both be right, for example a roll-up that cuts the end of a run under it; or two
   * runs of one leaf that do not tile it, which may be the same one.
   */
  z.strictObject({ ...Common, kind: z.literal('runs'), first: ProvedRun, second: ProvedRun }),
  /**
   * Headers of two leaves of which the later one counts fewer policies, or has an earlier time of sealing
   * or an older time stamp; or a roll-up that counts less than a batch under it.
   */
  z.strictObject({ ...Common, kind: z.literal('headers'), first: ProvedBatch, second: ProvedBatch }),
  /**
   * A run or tag that the leaves before it lack. `second` shows one leaf of a tree; those in `absent` show that they
   * lack its key. They are all leaves between `first`, which has a run of the stream, and `second`; without it, all
   * leaves before a batch, or all that a roll-up covers.
   */
  z.strictObject({
    ...Common,
    kind: z.literal('absent'),
    first: ProvedRun.nullable(),
    second: ProvedLeaves,
    absent: z.array(ProvedLeaves).max(2000),
  }),
  /**
   * A leaf whose header does not count its policies: `first` is the header before it, null for leaf 0;
   * `second` shows the run of the stream `policy`, or that the leaf has none.
   */
  z.strictObject({ ...Common, kind: z.literal('policies'), first: ProvedBatch.nullable(), second: ProvedLeaves }),
  /** A leaf of the ledger tree whose content is no header, or one that no leaf can have. */
  z.strictObject({ ...Common, kind: z.literal('header'), second: ProvedBatch, number: Count }),
  /** A signed manifest that states a stream as whole, and a run of the stream that reaches further. */
  z.strictObject({
    ...Common,
    kind: z.literal('claims'),
    ...ProvedManifest.shape,
    second: ProvedRun,
  }),
  /** Two signed manifests that state different salts for one site: a site has one run in a leaf, not two. */
  z.strictObject({ ...Common, kind: z.literal('salts'), first: ProvedManifest, second: ProvedManifest }),
  /**
   * Two records under one id whose numbers do not increase; or three of one visitor in the order of the
   * ledger, of which only the first and the last have tags of one id.
   */
  z.strictObject({
    ...Common,
    kind: z.literal('persons'),
    first: ProvedPerson,
    second: ProvedPerson,
    third: ProvedPerson.optional(),
  }),
]);
/** As it is parsed: hashes are bytes. */
export type Contradiction = z.output<typeof Contradiction>;
/** As it is written: hashes are hex. */
export type ContradictionFile = z.input<typeof Contradiction>;
