/**
 * How much a package may hold of files that prove something about its entries
 * (docs/evidence-format.md §14). A verifier reads no more. An exporter stays below: with tags, it
 * counts; proofs are smaller than that in batches of any size that the sealer makes.
 */
export const PROOF_LIMITS = {
  /** Bytes of the proofs of one batch, or of the tags of one batch or roll-up. */
  fileBytes: 192 * 1024 * 1024,
  /**
   * Bytes of all proofs, beside those for each byte of the entries that they are about. A file
   * that is read again counts again.
   */
  proofBytes: 16 * 1024 * 1024,
  /** The same of tags: each leaf of the cover shows the absence of an erasure for each record. */
  tagBytes: 256 * 1024 * 1024,
  bytesPerEntryByte: 20,
} as const;
