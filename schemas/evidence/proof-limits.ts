/**
 * How much a package may contain of files that prove something about its entries (docs/evidence-format.md §14). A
 * verifier reads no more. An exporter stays below: it counts the bytes of tags, and proofs are always smaller for
 * batches of the sizes that the sealer creates.
 */
export const PROOF_LIMITS = {
  /** Maximum number of bytes of the proofs of one batch, or of the tags of one batch or roll-up. */
  fileBytes: 192 * 1024 * 1024,
  /**
   * Maximum number of bytes of all proofs, in addition to an allowance per byte of the entries that they are about. A
   * file that is read again counts again.
   */
  proofBytes: 16 * 1024 * 1024,
  /** The same limit for tags. Each leaf of the cover shows the absence of an erasure for each record. */
  tagBytes: 256 * 1024 * 1024,
  bytesPerEntryByte: 20,
} as const;
