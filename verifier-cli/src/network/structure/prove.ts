import { fromHex, toHex } from '../../../../schemas/crypto/encoding.js';
import { type BatchHeader, isBatch, POLICY_KEY } from '../../../../schemas/evidence/batch-header.js';
import {
  Contradiction,
  type ContradictionFile,
  type ProvedEntryFile,
} from '../../../../schemas/evidence/contradiction.js';
import { firstCovered, levelOf } from '../../../../schemas/evidence/roll-ups.js';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { ShownLeavesProof } from '../../../../schemas/merkle/shown-leaves.js';
import { TILE_WIDTH } from '../../../../schemas/merkle/tiles.js';
import { verifyContradiction } from '../../compare/contradiction.js';
import { readHeaderOf } from '../../compare/header-problem.js';
import type { KeyedLeaf, Tree } from '../../compare/leaves-problem.js';
import { type Claim, Violation } from './claim.js';
import { readPublishedLeaf } from './published-leaf.js';
import { compareKeys } from './records.js';
import { type TiledLog, Withheld } from './tiled-log.js';

type FileOf<K extends ContradictionFile['kind']> = Extract<ContradictionFile, { kind: K }>;
type BatchFile = FileOf<'headers'>['first'];
type LeavesFile = FileOf<'leaves'>['first'];
type RunFile = FileOf<'runs'>['first'];
type Without<T> = T extends unknown ? Omit<T, 'format' | 'version' | 'announcements'> : never;

export interface ProofOptions {
  readonly log: TiledLog;
  /** The exact note of the checkpoint of the log's size. */
  readonly note: string;
  readonly announcements: readonly ProvedEntryFile[];
  /** Keys of the ledger that the auditing person trusts. */
  readonly keys: readonly VerifierKey[];
}

/**
 * Creates the proof of a violation from the published files, in the form that `check-contradiction` verifies.
 * @returns null if no proof is possible because the operator withholds or alters a part of it
 * @throws Unreachable
 */
export async function proveViolation({ claim }: Violation, options: ProofOptions): Promise<ContradictionFile | null> {
  if (claim === null) return null;
  try {
    const body = await new Prover(options).prove(claim);
    if (body === null) return null;
    const file: ContradictionFile = {
      format: 'consent-ledger-contradiction',
      version: 1,
      announcements: [...options.announcements],
      ...body,
    };
    const parsed = Contradiction.safeParse(file);
    const verdict = parsed.success ? await verifyContradiction(parsed.data, options.keys, new Date()) : null;
    return verdict?.outcome === 'proved' ? file : null;
  } catch (error) {
    if (error instanceof Withheld || error instanceof Violation) return null;
    throw error;
  }
}

/** A key in a leaf, or the two leaves that it would be between. */
interface ShownKey {
  readonly header: BatchHeader;
  readonly leaves: readonly KeyedLeaf[];
  readonly isThere: boolean;
}

class Prover {
  constructor(readonly options: ProofOptions) {}

  async prove(claim: Claim): Promise<Without<ContradictionFile> | null> {
    switch (claim.kind) {
      case 'header':
        return { kind: 'header', number: claim.number, second: await this.#batch(claim.number) };
      case 'headers':
        return { kind: 'headers', first: await this.#batch(claim.first), second: await this.#batch(claim.second) };
      case 'policies':
        return this.#policies(claim.number);
      case 'tiling':
        return this.#tiling(claim.number);
      case 'order':
        return this.#order(claim);
      case 'runs': {
        const { key, first, second } = claim;
        return this.#runs(await this.#shown(first, 'streams', key), await this.#shown(second, 'streams', key));
      }
      case 'stream':
        return this.#stream(claim);
      case 'surplus-tag':
        return this.#surplusTag(claim);
      case 'missing': {
        const { tree, key, number, rollUp } = claim;
        const [first, second] = [await this.#shown(number, tree, key), await this.#shown(rollUp, tree, key)];
        return { kind: 'leaves', first: await this.#leaves(tree, first), second: await this.#leaves(tree, second) };
      }
      case 'tag-twice':
        return this.#tagTwice(claim);
    }
  }

  async #policies(number: number): Promise<Without<ContradictionFile>> {
    const key = fromHex(POLICY_KEY) ?? new Uint8Array();
    const shown = await this.#shown(number, 'streams', key);
    const leaves = isBatch(shown.header.level) ? shown : { ...shown, leaves: [] };
    const first = number === 0 ? null : await this.#batch(number - 1);
    return { kind: 'policies', first, second: await this.#leaves('streams', leaves) };
  }

  async #tiling(number: number): Promise<Without<ContradictionFile> | null> {
    const header = await this.#header(number);
    const last = await this.#at(header, 'streams', [header.streams_count - 1]);
    const run = await this.#run({ header, leaves: last, isThere: true });
    return run && { kind: 'runs', first: run, second: run };
  }

  async #order({ number, tree, index }: Extract<Claim, { kind: 'order' }>): Promise<Without<ContradictionFile>> {
    const header = await this.#header(number);
    const side = async (one: number): Promise<LeavesFile> =>
      this.#leaves(tree, { header, leaves: await this.#at(header, tree, [one]), isThere: true });
    return { kind: 'leaves', first: await side(index - 1), second: await side(index) };
  }

  async #runs(one: ShownKey, other: ShownKey): Promise<Without<ContradictionFile> | null> {
    const [first, second] = [await this.#run(one), await this.#run(other)];
    return first && second && { kind: 'runs', first, second };
  }

  async #stream(claim: Extract<Claim, { kind: 'stream' }>): Promise<Without<ContradictionFile> | null> {
    const { key, number, before, from } = claim;
    const second = await this.#shown(number, 'streams', key);
    const { found, absent } = await this.#walk('streams', key, before, from);
    if (found !== null) {
      const runs = await this.#runs(found, second);
      // If one run begins before the other ends, there is no absence to show.
      if (runs !== null && (await this.#isProved(runs))) return runs;
    }
    return {
      kind: 'absent',
      first: found && (await this.#run(found)),
      second: await this.#leaves('streams', second),
      absent: await this.#all('streams', absent),
    };
  }

  async #surplusTag({ tag, rollUp }: Extract<Claim, { kind: 'surplus-tag' }>): Promise<Without<ContradictionFile>> {
    const second = await this.#shown(rollUp, 'tags', tag);
    const { absent } = await this.#walk('tags', tag, rollUp, firstCovered(rollUp));
    return {
      kind: 'absent',
      first: null,
      second: await this.#leaves('tags', second),
      absent: await this.#all('tags', absent),
    };
  }

  async #tagTwice({ tag, below }: Extract<Claim, { kind: 'tag-twice' }>): Promise<Without<ContradictionFile> | null> {
    const found: ShownKey[] = [];
    for (let before = below; found.length < 2 && before > 0; ) {
      const last = await this.#lastBatchWith(tag, before);
      if (last === null) return null;
      found.push(last);
      before = last.header.number;
    }
    const [second, first] = found;
    if (first === undefined || second === undefined) return null;
    return { kind: 'leaves', first: await this.#leaves('tags', first), second: await this.#leaves('tags', second) };
  }

  async #lastBatchWith(tag: Uint8Array, before: number): Promise<ShownKey | null> {
    const { found } = await this.#walk('tags', tag, before, 0);
    if (found === null || isBatch(found.header.level)) return found;
    return this.#lastBatchWith(tag, found.header.number);
  }

  async #isProved(body: Without<ContradictionFile>): Promise<boolean> {
    const { announcements, keys } = this.options;
    const file = { format: 'consent-ledger-contradiction', version: 1, announcements: [...announcements], ...body };
    const parsed = Contradiction.safeParse(file);
    return parsed.success && (await verifyContradiction(parsed.data, keys, new Date())).outcome === 'proved';
  }

  /**
   * Walks back from a leaf, using roll-ups where possible, to the last leaf that has a key.
   * @param before the first leaf that is not searched
   * @returns what was found, and the leaves after it, which lack the key, by number
   */
  async #walk(
    tree: Tree,
    key: Uint8Array,
    before: number,
    from: number,
  ): Promise<{ readonly found: ShownKey | null; readonly absent: readonly ShownKey[] }> {
    const absent: ShownKey[] = [];
    for (let number = before - 1; number >= from; ) {
      const level = levelOf(number);
      const start = firstCovered(number);
      // A period that began before `from` is not skipped as a whole: its leaves are examined one by one.
      const isWithin = level === 0 || start >= from;
      if (!isWithin) {
        number -= 1;
        continue;
      }
      const shown = await this.#shown(number, tree, key);
      if (shown.isThere && level > 0 && tree === 'tags') {
        const inside = await this.#walk(tree, key, number, start);
        return { found: inside.found ?? shown, absent: [] };
      }
      if (shown.isThere) return { found: shown, absent: absent.reverse() };
      absent.push(shown);
      number = start - 1;
    }
    return { found: null, absent: absent.reverse() };
  }

  async #all(tree: Tree, shown: readonly ShownKey[]): Promise<LeavesFile[]> {
    const files: LeavesFile[] = [];
    for (const one of shown) files.push(await this.#leaves(tree, one));
    return files;
  }

  async #header(number: number): Promise<BatchHeader> {
    const { header } = readHeaderOf(await this.#text(number), number);
    if (header === null) throw new Withheld(`leaf ${number} is not a header`);
    return header;
  }

  async #text(number: number): Promise<string> {
    const entries = await this.options.log.entries(Math.floor(number / TILE_WIDTH));
    const text = entries[number % TILE_WIDTH];
    if (text === undefined) throw new Withheld(`the entry ${number} is not published`);
    return text;
  }

  async #batch(number: number): Promise<BatchFile> {
    const path = await this.options.log.inclusion(number);
    return { note: this.options.note, header: await this.#text(number), path: path.map(toHex) };
  }

  /** Finds a key in a leaf. */
  async #shown(number: number, tree: Tree, key: Uint8Array): Promise<ShownKey> {
    const header = await this.#header(number);
    let low: KeyedLeaf | null = null;
    let high: KeyedLeaf | null = null;
    let own: KeyedLeaf | null = null;
    await this.#read(header, tree, (leaf) => {
      const order = compareKeys(leaf.key, key);
      if (order === 0) own ??= leaf;
      else if (order < 0) low = leaf;
      else high ??= leaf;
    });
    const leaves: readonly KeyedLeaf[] = own === null ? [low, high].flatMap((leaf) => leaf ?? []) : [own];
    return { header, leaves, isThere: own !== null };
  }

  async #at(header: BatchHeader, tree: Tree, indexes: readonly number[]): Promise<readonly KeyedLeaf[]> {
    const found: KeyedLeaf[] = [];
    await this.#read(header, tree, (leaf) => {
      if (indexes.includes(leaf.index)) found.push(leaf);
    });
    return found;
  }

  /** @param use a function that receives each leaf, with its own copy of the key */
  async #read(header: BatchHeader, tree: Tree, use: (leaf: KeyedLeaf, hash: Uint8Array) => void): Promise<void> {
    const wrong = await readPublishedLeaf(this.options.log.source, header, {
      run: ({ key, start, first, last }, index, hash) => {
        if (tree === 'streams') use({ index, key: key.slice(), run: { start, first, last } }, hash);
      },
      tag: (key, index, hash) => {
        if (tree === 'tags') use({ index, key: key.slice() }, hash);
      },
    });
    if (wrong !== null) throw new Withheld(wrong);
  }

  async #leaves(tree: Tree, { header, leaves }: ShownKey): Promise<LeavesFile> {
    const proof = new ShownLeavesProof();
    await this.#read(header, tree, ({ index }, hash) => {
      proof.append(
        hash,
        leaves.some((leaf) => leaf.index === index),
      );
    });
    return {
      ...(await this.#batch(header.number)),
      tree,
      leaves: leaves.map(({ index, key, run }) => ({ index, key: toHex(key), ...(run !== undefined && { run }) })),
      hashes: proof.hashes().map(toHex),
    };
  }

  /** @returns null if the leaf has no run of the key */
  async #run(shown: ShownKey): Promise<RunFile | null> {
    const [leaf] = shown.leaves;
    if (!shown.isThere || leaf?.run === undefined) return null;
    const { note, header, path, hashes } = await this.#leaves('streams', shown);
    return { note, header, path, index: leaf.index, run: { key: toHex(leaf.key), ...leaf.run }, hashes };
  }
}
