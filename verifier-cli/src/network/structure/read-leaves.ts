import { sha256Hex } from '../../../../schemas/crypto/digest.js';
import { equalBytes } from '../../../../schemas/crypto/encoding.js';
import { type BatchHeader, batchLeaf, isBatch } from '../../../../schemas/evidence/batch-header.js';
import type { Checkpoint } from '../../../../schemas/evidence/checkpoint.js';
import { structureLength } from '../../../../schemas/evidence/structure-file.js';
import { TILE_WIDTH } from '../../../../schemas/merkle/tiles.js';
import type { Frontier } from '../../../../schemas/merkle/tree.js';
import { readHeaderOf } from '../../compare/header-problem.js';
import { Unreachable } from '../bounded-fetch.js';
import { Violation } from './claim.js';
import { readPublishedLeaf } from './published-leaf.js';
import { type TiledLog, Withheld } from './tiled-log.js';

/** Number of files that are requested ahead. */
const AHEAD = 16;
/** Largest file of a batch that fits into memory, in bytes. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/**
 * Reads the new headers once and verifies that they are those of the checkpoint.
 * @returns digests of the bundles, because what is served later could be something else
 */
export async function readHeaders(
  log: TiledLog,
  tree: Frontier,
  { size: newSize, root }: Checkpoint,
): Promise<ReadonlyMap<number, string>> {
  const { size } = tree;
  const digests = new Map<number, string>();
  for (let number = size; number < newSize; ) {
    const index = Math.floor(number / TILE_WIDTH);
    const entries = await log.entries(index);
    digests.set(index, digestOf(entries));
    for (const text of entries.slice(number % TILE_WIDTH)) tree.append(batchLeaf(text));
    number = index * TILE_WIDTH + entries.length;
  }
  if (!equalBytes(tree.root(), root))
    throw new Violation(`the published headers are not those to which checkpoint ${newSize} commits`, null);
  return digests;
}

function digestOf(entries: readonly string[]): string {
  return sha256Hex(JSON.stringify(entries));
}

/** A leaf of the ledger as it is published. */
export interface ReadLeaf {
  readonly text: string;
  readonly header: BatchHeader;
  /** File of a batch, or null for a roll-up. */
  readonly file: Uint8Array | null;
}

/**
 * The leaves from a number on, in order. The files of the next batches are requested ahead.
 * @param bundles digests of the bundles that have them, of `readHeaders`
 */
export async function* readLeaves(
  log: TiledLog,
  bundles: ReadonlyMap<number, string>,
  from: number,
): AsyncGenerator<ReadLeaf, void> {
  const waiting: { readonly leaf: Promise<ReadLeaf>; readonly length: number }[] = [];
  let bytes = 0;
  try {
    for (const [index, digest] of bundles) {
      const entries = await log.entries(index);
      if (digestOf(entries) !== digest)
        throw new Withheld(`the bundle of entries ${index} is served with two contents`);
      const first = index * TILE_WIDTH;
      for (const [place, text] of entries.entries()) {
        if (first + place < from) continue;
        const { header } = readHeaderOf(text, first + place);
        const length = header !== null && isBatch(header.level) ? structureLength(header) : 0;
        // The requested files must fit into memory together.
        while (waiting.length >= AHEAD || (waiting.length > 0 && bytes + length > MAX_BATCH_BYTES)) {
          const next = waiting.shift();
          if (next === undefined) break;
          bytes -= next.length;
          yield await next.leaf;
        }
        const leaf = readLeaf(log, text, first + place);
        // A failure is reported when its turn comes.
        leaf.catch(() => undefined);
        waiting.push({ leaf, length });
        bytes += length;
      }
    }
    for (const { leaf } of waiting.splice(0)) yield await leaf;
  } finally {
    await Promise.allSettled(waiting.map(({ leaf }) => leaf));
  }
}

async function readLeaf(log: TiledLog, text: string, number: number): Promise<ReadLeaf> {
  const { header, newer, problem } = readHeaderOf(text, number);
  if (newer !== null)
    throw new Unreachable(
      `leaf ${number} has a header of version ${newer}, which this program does not know: use a newer one`,
    );
  if (header === null) throw new Violation(`sealed a leaf ${number} ${problem}`, { kind: 'header', number });
  if (!isBatch(header.level)) return { text, header, file: null };
  const length = structureLength(header);
  if (length > MAX_BATCH_BYTES)
    throw new Unreachable(`batch ${number} has more runs and tags than an auditor can hold: ${length} bytes`);
  const file = new Uint8Array(length);
  let at = 0;
  const bytes = (some: Uint8Array): void => {
    file.set(some, at);
    at += some.length;
  };
  const wrong = await readPublishedLeaf(log.source, header, { bytes });
  if (wrong !== null)
    throw new Violation(`the structure below checkpoint ${log.size} cannot be recomputed: ${wrong}`, null);
  return { text, header, file };
}
