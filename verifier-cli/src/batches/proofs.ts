import { equalBytes, fromHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES, ProofLine } from '../../../schemas/evidence/package-lines.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { readProofLine } from '../../../schemas/evidence/proof-line.js';
import { Cursor } from '../../../schemas/json/cursor.js';
import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { LIMITS } from '../container/limits.js';
import type { LineBlock } from '../files/lines.js';
import { type PackageFiles, type Read, readerOf } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import { proofProblem } from '../findings/proof-problem.js';
import { WORK } from '../work/work-meter.js';
import type { Batch, Batches } from './batches.js';
import { FileCache } from './file-cache.js';
import { LeafList } from './leaf-list.js';

/** Content of a proof file, packed: audit paths by index, or every leaf of the batch in order. */
type Proofs =
  | { readonly kind: 'paths'; readonly paths: ReadonlyMap<number, Uint8Array>; readonly bytes: number }
  | { readonly kind: 'leaves'; readonly leaves: LeafList; readonly isRootRight: boolean; readonly bytes: number }
  | { readonly kind: 'none'; readonly reason: Finding; readonly bytes: number };

/** Number of bytes of a path in addition to its hashes. */
const OVERHEAD = 150;

/** Looks up the proofs of entries, batch by batch (`FileCache`). */
export class ProofCache {
  readonly #cache: FileCache<Proofs>;
  /** The latest batch, because neighbouring entries usually belong to the same one. */
  #latest: { readonly number: number; readonly proofs: Proofs } | null = null;

  constructor(
    readonly files: PackageFiles,
    readonly batches: Batches,
  ) {
    this.#cache = new FileCache(files, {
      nameOf: PACKAGE_FILES.proofs,
      read: (number) => this.#load(number),
      refused: (reason) => ({ kind: 'none', reason, bytes: OVERHEAD }),
      bytes: PROOF_LIMITS.proofBytes,
      loads: LIMITS.proofLoads,
      texts: {
        tooOften: finding('proofs-read-too-often'),
        tooMany: finding('proofs-too-large'),
        tooLarge: finding('proof-file-too-large'),
      },
    });
  }

  /** Returns whether the proof of this index can be looked up without reading a file. */
  isAtHand({ header: { number, count } }: Batch, index: number): boolean {
    return index >= count || this.#atHand(number) !== undefined;
  }

  /** Reads the proofs of a batch. */
  async load({ header: { number } }: Batch): Promise<void> {
    if (this.#latest?.number !== number) await this.#cache.load(number);
  }

  /**
   * @param batch a batch whose proofs are in memory
   * @param leaf the leaf in hex
   * @returns null if the leaf is proved to be in the batch at this index, otherwise why not
   */
  problemOf({ header: { number, count, root } }: Batch, index: number, leaf: string): Finding | null {
    if (index >= count) return finding('index-too-large', { index, count });
    const proofs = this.#atHand(number);
    if (proofs === undefined) throw new RangeError(`the proofs of batch ${number} are not loaded`);
    if (proofs.kind === 'none') return proofs.reason;
    if (proofs.kind === 'leaves') {
      if (!proofs.isRootRight) return finding('leaves-root-wrong', { batch: number });
      return proofs.leaves.holds(index, leaf) ? null : finding('other-leaf', { batch: number, index });
    }
    const path = proofs.paths.get(index);
    if (path === undefined) return finding('proof-missing', { index, batch: number });
    if (!this.files.work.take((WORK.hash * path.length) / HASH_LENGTH)) return finding('work-exceeded');
    const verdict = verifyInclusion(index, count, bytesOf(leaf), hashesOf(path), bytesOf(root ?? ''));
    return verdict.ok
      ? null
      : finding('entry-not-in-batch', { batch: number, index, reason: proofProblem(verdict.reason) });
  }

  /** Returns the audit path of a leaf, upwards, or null if the package has none. */
  async pathOf(batch: Batch, index: number): Promise<readonly Uint8Array[] | null> {
    await this.load(batch);
    const proofs = this.#atHand(batch.header.number);
    if (proofs === undefined || proofs.kind === 'none') return null;
    if (proofs.kind === 'paths') {
      const path = proofs.paths.get(index);
      return path === undefined ? null : hashesOf(path);
    }
    const { leaves } = proofs;
    if (index >= leaves.length) return null;
    return hashesOfRanges(inclusionRanges(index, leaves.length), ({ level, index: at }) => {
      const subtree = new Frontier();
      const end = Math.min(leaves.length, (at + 1) * 2 ** level);
      for (let leaf = at * 2 ** level; leaf < end; leaf += 1) subtree.append(leaves.at(leaf));
      return subtree.root();
    });
  }

  /** The proofs of a batch in memory, which become the most recently used. */
  #atHand(number: number): Proofs | undefined {
    if (this.#latest?.number === number) return this.#latest.proofs;
    const proofs = this.#cache.use(number);
    if (proofs !== undefined) this.#latest = { number, proofs };
    return proofs;
  }

  async #load(number: number): Promise<Proofs> {
    const header = this.batches.get(number)?.header;
    const file = PACKAGE_FILES.proofs(number);
    const size = this.files.archive.get(file)?.size;
    if (size === undefined || header === undefined)
      return { kind: 'none', reason: finding('proof-file-missing'), bytes: OVERHEAD };
    if (size > PROOF_LIMITS.fileBytes) {
      this.files.findings.fail(
        'container.limits',
        finding('proofs-of-batch-too-large', { limit: PROOF_LIMITS.fileBytes }),
        {
          file,
        },
      );
      return { kind: 'none', reason: finding('proof-file-too-large'), bytes: OVERHEAD };
    }
    const paths = new Map<number, Uint8Array>();
    const leaves = new LeafList();
    let bytes = OVERHEAD;
    const longest = Math.ceil(Math.log2(Math.max(1, header.count)));
    for await (const block of this.files.blocks(file, readLine, 'entry.inclusion')) {
      for (const { line, value } of block) {
        const hashes = 'path' in value ? value.path : [value.leaf];
        const isMisplaced = 'leaf' in value ? value.index !== leaves.length : paths.has(value.index);
        if ('path' in value) paths.set(value.index, packed(hashes));
        else leaves.push(value.leaf);
        const isImpossible = isMisplaced || line > header.count || ('path' in value && hashes.length > longest);
        if (isImpossible || (paths.size > 0 && leaves.length > 0)) {
          this.files.findings.fail('entry.inclusion', finding('proof-lines-misplaced'), { file, line });
          return { kind: 'none', reason: finding('proof-file-malformed'), bytes };
        }
        bytes += hashes.length * HASH_LENGTH + OVERHEAD;
      }
    }
    if (leaves.length === 0) return { kind: 'paths', paths, bytes };
    const isRootRight = leaves.length === header.count && equalBytes(leaves.root(), bytesOf(header.root ?? ''));
    return { kind: 'leaves', leaves, isRootRight, bytes: leaves.byteLength };
  }
}

const bySchema = readerOf(ProofLine);

function readLine(block: LineBlock, start: number, end: number): Read<ProofLine> {
  const value = readProofLine(new Cursor(block.bytes, block.text, start, end));
  return value === null ? bySchema(block, start, end) : { ok: true, value };
}

/** Decodes text that is known to be hex. */
function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}

function packed(hashes: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(hashes.length * HASH_LENGTH);
  for (const [i, hash] of hashes.entries()) out.set(hash, i * HASH_LENGTH);
  return out;
}

function hashesOf(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_LENGTH }, (_, i) =>
    bytes.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  );
}
