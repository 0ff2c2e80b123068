/**
 * How much a package may hold of files that prove something about its entries
 * (docs/evidence-format.md §14). An exporter stays below, and a verifier reads no more.
 */
export const PROOF_LIMITS = {
  /** Bytes of the proofs of one batch, or of the tags of one batch or roll-up. */
  fileBytes: 192 * 1024 * 1024,
  /**
   * Bytes of all proofs, beside those for each byte of the entries that they are about. What is read
   * again counts again.
   */
  proofBytes: 16 * 1024 * 1024,
  /** The same of tags: each leaf of the cover shows the absence of an erasure for each record. */
  tagBytes: 256 * 1024 * 1024,
  bytesPerEntryByte: 20,
} as const;
