import { SIGNATURE_TYPES, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { TOKEN_WORK, WORK_LIMIT } from '../../../schemas/rfc3161/work.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

/** Units of work. */
export const WORK = {
  ...TOKEN_WORK,
  /** A byte of a file, each time that it is unpacked, hashed and parsed. */
  byte: 4,
  /** A signature with ML-DSA-44 that is verified. */
  mlDsa: 500_000,
  /** A hash in a proof that an entry is in its batch. */
  hash: 60,
  /** A tag that is looked up in a batch. */
  tagLookup: 50,
  /** The tag of one of the records of the person. */
  personTag: 1000,
  /** A leaf of the cover that is searched for erasures. */
  coverLeaf: 100,
  /** A stamp that a batch is compared with. */
  comparison: 4,
  /** A CRL or OCSP response that is chosen from, for each stamp. */
  choice: 50,
} as const;

/** Returns the units of work of one signature by a key over a note of this many bytes. */
export function signatureWork({ type }: VerifierKey, noteBytes: number): number {
  return (type === SIGNATURE_TYPES.mlDsa ? WORK.mlDsa : WORK.signature) + noteBytes;
}

/** Reports that a package exceeds its limit. */
export function reportExceeded(findings: Findings): (limit: number) => void {
  return (limit) => findings.fail('container.limits', finding('too-much-work', { limit }));
}

/** Thrown if a verification cannot end early in another way. */
export class WorkExceeded extends Error {
  override readonly name = 'WorkExceeded';
}

/** Counts the work on one package. */
export class WorkMeter {
  readonly limit: number;
  #done = 0;

  /**
   * @param packageBytes size of the package
   * @param onExceeded called once, when the limit is exceeded
   * @param max a stricter limit
   */
  constructor(
    packageBytes: number,
    readonly onExceeded: (limit: number) => void,
    max = Number.POSITIVE_INFINITY,
  ) {
    this.limit = Math.min(max, WORK_LIMIT.fixed + WORK_LIMIT.perByte * packageBytes);
  }

  /** Number of units of work so far, at most the limit. */
  get done(): number {
    return Math.min(this.#done, this.limit);
  }

  get isExceeded(): boolean {
    return this.#done > this.limit;
  }

  /** @returns whether the limit permits this many further units */
  take(units: number): boolean {
    const wasExceeded = this.isExceeded;
    this.#done += units;
    if (this.isExceeded && !wasExceeded) this.onExceeded(this.limit);
    return !this.isExceeded;
  }

  /** @throws WorkExceeded if the limit does not permit this many further units */
  readonly spend = (units: number): void => {
    if (!this.take(units)) throw new WorkExceeded('the package exceeds the limit of work');
  };
}
