/*
 * The files of an evidence package and the lines of its NDJSON files (docs/evidence-format.md §3 to §7). A package is a
 * ZIP archive: `manifest.json` names the other files, and each line is one JSON object that ends with a line feed.
 *
 * - Texts that are hashed (entries, headers) are JSON strings, so that no reader serialises them again.
 * - Lines are sorted and unique: entries by stream and revision, batches by number, runs and tags by index.
 * - A file of a batch or checkpoint has its number or size as its name.
 *
 * For example, the lines of a package as of the checkpoint of checkpoint.ts, with `…` for the texts of entry.ts and
 * batch-header.ts. A tree of one leaf needs no hash beside it, so that `path` and `hashes` are empty:
 *
 *   entries.ndjson   {"batch":0,"disclosures":[],"entry":"…","index":0}
 *   batches.ndjson   {"hashes":[],"header":"…","path":[],"streams":[{"first":0,"index":0,
 *                     "key":"537ee57489ee5ab111cba16abcbdb7710d9eb718eba5408d1d3ea6464f4f928f","last":0,"start":0}]}
 */
import * as z from 'zod';
import { PersonOpening } from './person-tag.js';
import { Count, HashFromHex, StreamName } from './primitives.js';

/** Names of the files of a package. */
export const PACKAGE_FILES = {
  readme: 'README.txt',
  manifest: 'manifest.json',
  manifestSignature: 'manifest.json.jws',
  entries: 'entries.ndjson',
  batches: 'batches.ndjson',
  consistency: 'checkpoints/consistency.ndjson',
  note: (size: number) => `checkpoints/${size}.note`,
  /**
   * @param number number of the time stamp among those of the checkpoint, in the order in which they were obtained,
   * from 1
   */
  response: (size: number, number: number) => `checkpoints/${size}.${number}.tsr`,
  cosignatures: (size: number) => `checkpoints/${size}.cosignatures`,
  certificate: (sha256: string) => `checkpoints/certificates/${sha256}.cer`,
  crl: (sha256: string) => `checkpoints/crls/${sha256}.crl`,
  ocsp: (sha256: string) => `checkpoints/ocsp/${sha256}.ors`,
  /** The exact bytes of a document version, or the JCS text of a site configuration. */
  notice: (sha256: string) => `notices/${sha256}`,
  proofs: (batch: number) => `proofs/${batch}.ndjson`,
  tags: (batch: number) => `tags/${batch}.ndjson`,
  attachment: (sha256: string) => `attachments/${sha256}`,
} as const;

/** Longest line of an NDJSON file, in bytes. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Longest audit path of a tree below 2^53 leaves. */
const Path = z.array(HashFromHex).max(64);

/** A line of `entries.ndjson`, sorted by stream and revision. */
export const EntryLine = z.strictObject({
  /** The entry's JCS text, as a JSON string: hashes are over its UTF-8. */
  entry: z.string(),
  batch: Count,
  /** Index of the leaf in the batch. */
  index: Count,
  /** Chosen disclosures, as they were hashed. */
  disclosures: z.array(z.string()).max(64),
  /**
   * Position of the `SubjectErased` that names this record. Absent if it is not erased as of the checkpoint.
   */
  erased: z.strictObject({ stream: StreamName, revision: Count }).optional(),
  /**
   * True if the service no longer has the key of the record's values although the record is not erased, because a
   * restore of an older database lost the key. Absent otherwise.
   */
  key_lost: z.literal(true).optional(),
  /** In a receipt that discloses `visitor_id`: opens the entry's person tag. Absent otherwise. */
  person: PersonOpening.optional(),
});
export type EntryLine = z.infer<typeof EntryLine>;

/** A run under `streams_root`: one of the package's own streams, or a neighbour. */
export const ShownRun = z.strictObject({ index: Count, key: HashFromHex, start: Count, first: Count, last: Count });
export type ShownRun = z.infer<typeof ShownRun>;

/** Maximum number of runs that a line shows: three streams of the package, each with two neighbours. */
const MOST_RUNS = 9;

/** A line of `batches.ndjson`, sorted by number. */
export const BatchLine = z.strictObject({
  /** The header's JCS text, as a JSON string. */
  header: z.string(),
  /** Inclusion path of the header in the ledger tree of the manifest's checkpoint. */
  path: Path,
  /**
   * The runs of the package's streams with their neighbours, or the runs that a missing run would be between, sorted by
   * index.
   */
  streams: z.array(ShownRun).max(MOST_RUNS),
  /** The hashes beside them under `streams_root` (`rootOfShown`). */
  hashes: z.array(HashFromHex).max(64 * MOST_RUNS),
});
export type BatchLine = z.infer<typeof BatchLine>;

/**
 * A line of `tags/<number>.ndjson`: first the shown tags by index, then the hashes beside them under
 * `tags_root` (`rootOfShown`).
 */
export const TagLine = z.union([
  z.strictObject({ index: Count, tag: HashFromHex }),
  z.strictObject({ hash: HashFromHex }),
]);
export type TagLine = z.infer<typeof TagLine>;

/**
 * A line of `proofs/<batch>.ndjson`: an audit path for one entry, or (on every line of the file
 * then) the leaf at this index.
 */
export const ProofLine = z.union([
  z.strictObject({ index: Count, path: Path }),
  z.strictObject({ index: Count, leaf: HashFromHex }),
]);
export type ProofLine = z.infer<typeof ProofLine>;

/** A line of `checkpoints/consistency.ndjson`: one for each two neighbouring sizes enclosed. */
export const ConsistencyLine = z.strictObject({ from: Count, to: Count, path: Path });
export type ConsistencyLine = z.infer<typeof ConsistencyLine>;
