/** A checkpoint that a package may enclose. */
export interface CheckpointChoice {
  readonly size: number;
  /** SHA-256 of its certificates, CRLs and OCSP responses. */
  readonly evidence: readonly string[];
}

/** Limits that every verifier accepts. */
export interface CheckpointLimits {
  readonly checkpoints: number;
  /** Files of certificates, CRLs and OCSP responses. */
  readonly evidence: number;
}

/**
 * The checkpoints whose time stamps prove by when the batches existed: for each batch, the smallest
 * stamped size that covers it.
 * @param stamped stamped sizes, sorted, the newest last
 * @param batches numbers of the enclosed batches, sorted
 * @returns sizes, sorted
 */
export function endingSizes(stamped: readonly number[], batches: readonly number[]): readonly number[] {
  const sizes: number[] = [];
  let at = 0;
  for (const number of batches) {
    while (at < stamped.length && (stamped[at] ?? 0) <= number) at += 1;
    const size = stamped[at];
    if (size !== undefined && sizes.at(-1) !== size) sizes.push(size);
  }
  return sizes;
}

/**
 * Drops checkpoints at regular distances until the limits hold. The remaining time stamps prove
 * later times.
 * @param choices sorted by size; the last one is always kept
 * @returns sizes, sorted
 */
export function thinOut(choices: readonly CheckpointChoice[], limits: CheckpointLimits): readonly number[] {
  for (let stride = 1; ; stride *= 2) {
    const kept = choices.filter((_, i) => (choices.length - 1 - i) % stride === 0);
    const evidence = new Set(kept.flatMap((choice) => choice.evidence));
    if (kept.length <= 1 || (kept.length <= limits.checkpoints && evidence.size <= limits.evidence)) {
      return kept.map((choice) => choice.size);
    }
  }
}
