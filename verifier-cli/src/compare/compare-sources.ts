import { toHex } from '../../../schemas/crypto/encoding.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { ByteSource } from '../container/byte-source.js';
import type { TimestampTrust } from '../timestamps/timestamps.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { type Comparison, compareHistories } from './compare.js';
import { type History, historyOfNote, historyOfPackage } from './history.js';

/** Trust and proofs that the person who compares supplies in addition to the two files. */
export interface ComparisonOptions {
  readonly keys: readonly VerifierKey[];
  /** How the stamp of each side's newest checkpoint is evaluated. */
  readonly stamps: TimestampTrust;
  /** Consistency proofs in addition to those in the files. */
  readonly proofs: readonly ConsistencyLine[];
}

/** Name of one side of a comparison, as readable text. */
export interface ComparedSide {
  readonly kind: History['kind'];
  readonly origin: string;
  readonly size: number;
  /** In hex. */
  readonly root: string;
  readonly stamped_at: string | null;
}

export interface ComparedSources {
  readonly comparison: Comparison;
  readonly sides: Readonly<Record<'a' | 'b', ComparedSide>>;
}

/** A file that cannot be one side of a comparison. */
export class NotComparable extends Error {
  override readonly name = 'NotComparable';

  /**
   * @param reason `unknown` for a file that is not a package, a receipt or a note; `no-checkpoint` for a package
   * without a checkpoint
   */
  constructor(
    readonly side: 'a' | 'b',
    readonly reason: 'unknown' | 'no-checkpoint',
  ) {
    super(`side ${side}: ${reason}`);
  }
}

/** A larger file is not a checkpoint note. */
const MAX_NOTE_BYTES = 1024 * 1024;

/**
 * Compares two files, each a package, a receipt or a checkpoint note.
 * @throws NotComparable; errors of the sources
 */
export async function compareSources(a: ByteSource, b: ByteSource, given: ComparisonOptions): Promise<ComparedSources> {
  const { at } = given.stamps;
  const options = { ...given, keys: given.keys.filter((key) => isSoundKey(key, at)) };
  const first = await historyOf('a', a, options);
  const second = await historyOf('b', b, options);
  return {
    comparison: await compareHistories(first, second, options.keys, options.proofs, at),
    sides: { a: sideOf(first), b: sideOf(second) },
  };
}

async function historyOf(side: 'a' | 'b', source: ByteSource, { keys, stamps }: ComparisonOptions): Promise<History> {
  const isPackage = await mayBePackage(source);
  const history = isPackage
    ? await historyOfPackage(source, keys, stamps)
    : source.size > MAX_NOTE_BYTES
      ? null
      : await historyOfNote(await source.read(0, source.size), keys);
  if (history === null) throw new NotComparable(side, isPackage ? 'no-checkpoint' : 'unknown');
  return history;
}

/** Returns whether a file begins like a package (ZIP) or a receipt (JSON). A note begins with the ledger's name. */
async function mayBePackage(source: ByteSource): Promise<boolean> {
  const [first, second] = await source.read(0, Math.min(2, source.size));
  return (first === 0x50 && second === 0x4b) || first === 0x7b;
}

function sideOf({ kind, newest, stampedAt }: History): ComparedSide {
  return { kind, origin: newest.origin, size: newest.size, root: toHex(newest.root), stamped_at: stampedAt };
}
