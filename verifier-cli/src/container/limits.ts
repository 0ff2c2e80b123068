/** Limits of a package. Beyond them it is refused, so that a hostile package cannot exhaust memory or time. */
export const LIMITS = {
  /** Maximum number of files in the ZIP. */
  files: 500_000,
  /** Maximum number of bytes of the central directory. */
  centralDirectoryBytes: 128 * 1024 * 1024,
  /** Maximum number of bytes of one file, unpacked. */
  fileBytes: 64 * 1024 ** 3,
  /** Maximum number of bytes of all files, unpacked. */
  totalBytes: 256 * 1024 ** 3,
  /** Maximum number of unpacked bytes for each packed byte, for files above `ratioFloor` bytes. */
  ratio: 250,
  ratioFloor: 1024 * 1024,
  /** Maximum number of bytes of a file that is read into memory, unless a smaller limit applies. */
  smallFileBytes: 1024 * 1024,
  manifestBytes: 64 * 1024 * 1024,
  /** Maximum number of JSON values in the manifest: it may list 450,000 files and 100,000 runs. */
  manifestValues: 1_000_000,
  /**
   * Maximum number of bytes of one checkpoint's note, and of all notes: they stay in memory during the whole check.
   */
  noteBytes: 64 * 1024,
  notesBytes: 40 * 1024 * 1024,
  certificateBytes: 64 * 1024,
  ocspBytes: 256 * 1024,
  crlBytes: 16 * 1024 * 1024,
  /** Maximum number of certificates, all of which are candidates for the chain of every time stamp. */
  certificates: 256,
  /** Maximum number of CRLs, and of OCSP responses. */
  answers: 2000,
  /** Maximum number of bytes of all certificates, CRLs or OCSP answers. */
  pkiBytes: 96 * 1024 * 1024,
  /** Maximum number of enclosed checkpoints. */
  checkpoints: 10_000,
  /** Maximum number of time stamps of all checkpoints. */
  stamps: 40_000,
  policies: 1_000,
  /** Maximum number of batches. */
  batches: 200_000,
  /** Maximum number of characters of a batch's header. */
  headerLength: 2000,
  /** Maximum number of event ids that erasures list. */
  erasedIds: 2_000_000,
  /** Maximum number of different document versions and configurations that records refer to. */
  references: 100_000,
  /** Maximum number of characters of these references. */
  referenceLength: 32 * 1024 * 1024,
  /** Maximum number of records of the person whom a package is about. */
  personRecords: 1_000_000,
  /** Maximum number of salts that are compared with one another; further salts are not compared. */
  salts: 4_194_304,
  /** Maximum number of bytes of audit paths or leaf hashes in memory at a time. */
  proofCacheBytes: 48 * 1024 * 1024,
  /**
   * How often the proofs of a batch may be read. Entries in order need them once for each of a site's two streams, and
   * once for the policies.
   */
  proofLoads: 3,
  /** How often the tags of a batch may be read. Entries, a person and the absence of erasures each need them once. */
  tagLoads: 4,
  /** Number of failed checks after which no further line is read. */
  failures: 10_000,
} as const;
