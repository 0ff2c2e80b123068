import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { concatBytes, fromHex, toHex, uint64 } from '../../../../schemas/crypto/encoding.js';
import { BatchHeader, batchLeaf, POLICY_KEY } from '../../../../schemas/evidence/batch-header.js';
import type { Checkpoint } from '../../../../schemas/evidence/checkpoint.js';
import { type FiledRun, KEY_BYTES, numberAt, RUN_BYTES } from '../../../../schemas/evidence/structure-file.js';
import { Frontier } from '../../../../schemas/merkle/tree.js';
import { headersProblem } from '../../compare/headers-problem.js';
import { Unreachable } from '../bounded-fetch.js';
import {
  type AuditState,
  PERIOD_FILE,
  readAuditState,
  removeOthers,
  rollUpFile,
  type StoredLeaf,
  writeAuditState,
} from './audit-state.js';
import { Violation } from './claim.js';
import { compareTiles } from './compare-tiles.js';
import { differenceOf, type LeafSource, runAt, sumOf, withSources } from './merged-leaves.js';
import { readPublishedLeaf } from './published-leaf.js';
import { type ReadLeaf, readHeaders, readLeaves } from './read-leaves.js';
import {
  compareKeys,
  findRecords,
  mergeRecords,
  type RecordPart,
  type Records,
  RecordWriter,
  recordsOf,
  withFiles,
} from './records.js';
import { TagIndex } from './tag-index.js';
import { type TiledLog, Withheld } from './tiled-log.js';

/** Maximum number of milliseconds of work that a crash may lose, in addition to the work of one period. */
const COMMIT_MS = 60_000;
/** Number of bytes of an end of a stream: its key, and the number of its events as 8 bytes. */
const HEAD_BYTES = 40;

const POLICY_KEY_BYTES = fromHex(POLICY_KEY) ?? new Uint8Array();

export interface AuditOptions {
  /** Folder of this ledger's audit. */
  readonly folder: string;
  readonly log: TiledLog;
  /** A checkpoint that a trusted key signed. */
  readonly checkpoint: Checkpoint;
  /** Called from time to time with the number of leaves audited so far. */
  readonly progress?: (audited: number) => void;
  /** Called for each leaf of an audit that never reached the newest checkpoint of the ledger. */
  readonly advanced?: () => void;
  /** Ends the audit early; the next one continues from there. */
  readonly signal?: AbortSignal;
  /** Time between two stored states, in milliseconds; less in tests. */
  readonly commitMs?: number;
}

/**
 * Recomputes the structure of a ledger from the end of the stored state to a checkpoint. It checks that headers follow
 * one another, that runs tile each batch and continue each stream, that tags are sorted and unique in the ledger, and
 * that each roll-up is the sum of what it covers. Memory is bounded: streams and tags are in files.
 * @throws Violation for the first rule that is broken; Unreachable; UsageError for a damaged state
 */
export async function auditStructure(options: AuditOptions): Promise<void> {
  const { folder, checkpoint, log } = options;
  const { origin, size } = checkpoint;
  const state = (await readAuditState(folder, origin)) ?? startOf(origin);
  if (size < state.size)
    throw new Unreachable(`checkpoint ${size} is smaller than ${state.size}, which was audited before`);
  try {
    const bundles = await readHeaders(log, frontierOf(state), checkpoint);
    const audit = new StructureAudit(options, state);
    try {
      await audit.run(bundles);
    } finally {
      audit.close();
    }
  } catch (error) {
    if (!(error instanceof Withheld)) throw error;
    throw new Violation(`the structure below checkpoint ${size} cannot be recomputed: ${error.message}`, null);
  }
}

function startOf(origin: string): AuditState {
  return {
    v: 1,
    origin,
    size: 0,
    edge: [],
    last: null,
    batches: [],
    roll_ups: [],
    heads: null,
    tags: [],
    next_file: 0,
  };
}

function frontierOf({ size, edge }: AuditState): Frontier {
  return new Frontier(
    size,
    edge.map((hex) => fromHex(hex) ?? new Uint8Array()),
  );
}

class StructureAudit {
  readonly #folder: string;
  readonly #log: TiledLog;
  readonly #tree: Frontier;
  readonly #tags: TagIndex;
  readonly #period: number;
  /** Numbers of the events of streams with runs since the last roll-up, by key. */
  readonly #ends = new Map<string, number>();
  #batches: StoredLeaf[];
  #rollUps: StoredLeaf[];
  #heads: AuditState['heads'];
  #last: { readonly text: string; readonly header: BatchHeader } | null;
  #bytes = 0;
  /** Whether the stored state has batches in the file of the period, which the next period overwrites. */
  #isPeriodStored: boolean;
  #committed = Date.now();

  constructor(
    readonly options: AuditOptions,
    readonly state: AuditState,
  ) {
    this.#folder = options.folder;
    this.#log = options.log;
    this.#tree = frontierOf(state);
    this.#tags = new TagIndex(this.#folder, state.tags, state.next_file);
    this.#batches = [...state.batches];
    this.#isPeriodStored = this.#batches.length > 0;
    this.#rollUps = [...state.roll_ups];
    this.#heads = state.heads;
    this.#last = state.last === null ? null : { text: state.last, header: BatchHeader.parse(JSON.parse(state.last)) };
    this.#period = openSync(join(this.#folder, PERIOD_FILE), state.size === 0 ? 'w+' : 'r+', 0o600);
    this.#bytes = bytesOf(this.#batches);
    this.#readEnds();
  }

  close(): void {
    closeSync(this.#period);
  }

  async run(bundles: ReadonlyMap<number, string>): Promise<void> {
    await removeOthers(this.#folder, this.state);
    try {
      await this.#addLeaves(bundles);
      await compareTiles({
        log: this.#log,
        frontier: this.#tree.hashes,
        compared: this.state.tiles ?? 0,
        signal: this.options.signal,
        ...(this.state.reached_at === undefined && { advanced: this.options.advanced }),
      });
    } catch (error) {
      // The next audit continues from here.
      if (error instanceof Unreachable && this.#tree.size > this.state.size) await this.#commit();
      throw error;
    }
    await this.#commit({ reached_at: new Date().toISOString(), tiles: this.#log.size });
  }

  async #addLeaves(bundles: ReadonlyMap<number, string>): Promise<void> {
    const { progress, advanced, signal } = this.options;
    const { size } = this.#log;
    for await (const leaf of readLeaves(this.#log, bundles, this.state.size)) {
      const { header } = leaf;
      this.#checkHeader(leaf);
      if (leaf.file === null) await this.#addRollUp(header);
      else this.#addBatch(header, leaf.file);
      this.#tree.append(batchLeaf(leaf.text));
      this.#last = leaf;
      if (this.state.reached_at === undefined) advanced?.();
      const isDue = Date.now() - this.#committed >= (this.options.commitMs ?? COMMIT_MS);
      if (this.#tags.isFull || ((isDue || this.#isPeriodStored) && leaf.file === null)) {
        await this.#commit();
        progress?.(header.number + 1);
      }
      if (signal?.aborted === true)
        throw new Unreachable(`the audit was stopped after ${header.number + 1} of ${size} leaves`);
    }
  }

  #checkHeader({ header }: ReadLeaf): void {
    const { number } = header;
    if (this.#last === null) return;
    const problem = headersProblem(this.#last.header, header);
    if (problem !== null) throw new Violation(problem, { kind: 'headers', first: number - 1, second: number });
  }

  #addBatch(header: BatchHeader, file: Uint8Array): void {
    const { number, streams_count: runs, tags_count: tags } = header;
    const split = runs * RUN_BYTES;
    let end = 0;
    let policies = this.#last?.header.policies ?? 0;
    const heads = this.#headsOf(file.subarray(0, split));
    for (let index = 0; index < runs; index += 1) {
      const run = runAt(file, index);
      if (index > 0 && compareKeys(runAt(file, index - 1).key, run.key) >= 0)
        throw new Violation(`sealed batch ${number} with runs that are not sorted`, {
          kind: 'order',
          number,
          tree: 'streams',
          index,
        });
      this.#continueStream(run, heads.get(nameOf(run.key)) ?? 0, number);
      const length = run.last - run.first + 1;
      end += length;
      if (compareKeys(run.key, POLICY_KEY_BYTES) === 0) policies += length;
    }
    if (end !== header.count)
      throw new Violation(`states ${header.count} entries of batch ${number}, whose runs have ${end}`, {
        kind: 'tiling',
        number,
      });
    if (policies !== header.policies)
      throw new Violation(`counts ${header.policies} policies in leaf ${number}, and sealed ${policies} up to it`, {
        kind: 'policies',
        number,
      });
    const own = file.subarray(split);
    for (let index = 1; index < tags; index += 1)
      if (compareKeys(own.subarray((index - 1) * KEY_BYTES), own.subarray(index * KEY_BYTES)) >= 0)
        throw new Violation(`sealed batch ${number} with tags that are not sorted, or one twice`, {
          kind: 'order',
          number,
          tree: 'tags',
          index,
        });
    writeSync(this.#period, file, 0, file.length, this.#bytes);
    this.#bytes += file.length;
    this.#batches.push({ number, runs, tags });
    this.#tags.add(own);
  }

  #continueStream({ key, first, last }: FiledRun, count: number, number: number): void {
    if (first !== count)
      throw new Violation(
        `sealed ${count} events of the stream with the key ${toHex(key)} before batch ${number}, which states revision ${first} as the next one`,
        { kind: 'stream', key: key.slice(), number, before: number, from: 0 },
      );
    this.#ends.set(nameOf(key), last + 1);
  }

  /** The ends of the streams of sorted runs. */
  #headsOf(runs: Uint8Array): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    const unknown: Uint8Array[] = [];
    for (let at = 0; at < runs.length; at += RUN_BYTES) {
      const key = runs.subarray(at, at + KEY_BYTES);
      const known = this.#ends.get(nameOf(key));
      if (known !== undefined) found.set(nameOf(key), known);
      else unknown.push(key);
    }
    // Runs that are not sorted are refused after this.
    if (this.#heads !== null)
      findRecords(this.#headPart(this.#heads), keysOf(unknown.sort(compareKeys)), (record) => {
        found.set(nameOf(record), numberAt(record, KEY_BYTES));
      });
    return found;
  }

  #headPart({ name, count }: NonNullable<AuditState['heads']>): RecordPart {
    return { path: join(this.#folder, name), offset: 0, count, length: HEAD_BYTES };
  }

  /** Restores the ends since the last roll-up from the stored files. */
  #readEnds(): void {
    const bytes = this.#batches.length === 0 ? new Uint8Array() : readFileSync(join(this.#folder, PERIOD_FILE));
    let at = 0;
    for (const { runs, tags } of this.#batches) {
      for (let index = 0; index < runs; index += 1) {
        const { key, last } = runAt(bytes.subarray(at), index);
        this.#ends.set(nameOf(key), last + 1);
      }
      at += runs * RUN_BYTES + tags * KEY_BYTES;
    }
  }

  async #addRollUp(header: BatchHeader): Promise<void> {
    const { number, level } = header;
    const policies = this.#last?.header.policies ?? 0;
    if (header.policies !== policies)
      throw new Violation(`counts ${header.policies} policies in leaf ${number}, and sealed ${policies} up to it`, {
        kind: 'policies',
        number,
      });
    const sources = level === 1 ? this.#periodSources() : [...this.#rollUpSources(), ...this.#periodSources()];
    const path = join(this.#folder, rollUpFile(number));
    const sum = withSources(sources, (open) => sumOf(open, number, level === 1 ? path : null));
    const isRight =
      header.count === sum.count &&
      header.streams_count === sum.runs &&
      header.tags_count === sum.tags &&
      header.streams_root === toHex(sum.streamsRoot) &&
      header.tags_root === toHex(sum.tagsRoot);
    if (!isRight) throw await this.#wrongRollUp(header, sources);
    this.#mergeHeads();
    this.#rollUps = level === 1 ? [...this.#rollUps, { number, runs: sum.runs, tags: sum.tags }] : [];
    this.#batches = [];
    this.#bytes = 0;
  }

  #periodSources(): LeafSource[] {
    let offset = 0;
    return this.#batches.map((leaf) => {
      const source = { ...leaf, path: join(this.#folder, PERIOD_FILE), offset };
      offset += bytesOf([leaf]);
      return source;
    });
  }

  #rollUpSources(): LeafSource[] {
    return this.#rollUps.map((leaf) => ({ ...leaf, path: join(this.#folder, rollUpFile(leaf.number)), offset: 0 }));
  }

  /** Merges the ends of the streams of the period into a new file. */
  #mergeHeads(): void {
    const added = [...this.#ends].map(([name, count]) => headBytes(Buffer.from(name, 'latin1'), count));
    added.sort(compareKeys);
    const before = this.#heads;
    const name = `heads-${this.#tree.size}`;
    const writer = new RecordWriter(join(this.#folder, name));
    const merge = (old: Records): void => {
      let held: Uint8Array | null = null;
      // The newer one of two ends of a stream comes second.
      for (const { record } of mergeRecords([old, keysOf(added)])) {
        if (held !== null && compareKeys(held, record) !== 0) writer.write(held);
        held = record.slice();
      }
      if (held !== null) writer.write(held);
    };
    if (before === null) merge(keysOf([]));
    else {
      const part = this.#headPart(before);
      withFiles([part.path], (files) => merge(recordsOf(files.get(part.path) ?? -1, part)));
    }
    writer.end();
    this.#heads = { name, count: writer.size / HEAD_BYTES };
    this.#ends.clear();
  }

  /** Finds a difference between a roll-up and what it covers. */
  async #wrongRollUp(header: BatchHeader, sources: readonly LeafSource[]): Promise<Violation> {
    const { number } = header;
    const about = 'is not the sum of the leaves that it covers';
    const path = join(this.#folder, 'published');
    const writer = new RecordWriter(path);
    const wrong = await readPublishedLeaf(this.#log.source, header, { bytes: (bytes) => writer.write(bytes) }).finally(
      () => writer.end(),
    );
    if (wrong !== null) return new Violation(`roll-up ${number} ${about}, and ${wrong}`, null);
    try {
      const published: LeafSource = {
        number,
        path,
        offset: 0,
        runs: header.streams_count,
        tags: header.tags_count,
      };
      const claim = withSources([...sources, published], (open) => differenceOf(open, number));
      return new Violation(`sealed roll-up ${number}, which ${about}`, claim ?? { kind: 'tiling', number });
    } finally {
      await rm(path, { force: true });
    }
  }

  /** @param reached the time and the leaves whose tiles were compared, if the newest checkpoint was reached */
  async #commit(reached: Pick<AuditState, 'reached_at' | 'tiles'> = this.state): Promise<void> {
    const twice = this.#tags.flush();
    if (twice !== null)
      throw new Violation(`sealed the tag ${toHex(twice)} twice`, {
        kind: 'tag-twice',
        tag: twice,
        below: this.#tree.size,
      });
    fsyncSync(this.#period);
    const { origin } = this.state;
    await writeAuditState(this.#folder, {
      v: 1,
      origin,
      size: this.#tree.size,
      edge: this.#tree.hashes.map(toHex),
      last: this.#last?.text ?? null,
      batches: this.#batches,
      roll_ups: this.#rollUps,
      heads: this.#heads,
      tags: [...this.#tags.files],
      next_file: this.#tags.nextFile,
      ...(reached.tiles !== undefined && { tiles: reached.tiles }),
      ...(reached.reached_at !== undefined && { reached_at: reached.reached_at }),
    });
    this.#isPeriodStored = this.#batches.length > 0;
    this.#committed = Date.now();
  }
}

function bytesOf(leaves: readonly StoredLeaf[]): number {
  return leaves.reduce((sum, { runs, tags }) => sum + runs * RUN_BYTES + tags * KEY_BYTES, 0);
}

function headBytes(key: Uint8Array, count: number): Uint8Array {
  return concatBytes(key, uint64(count));
}

/** A key as a short text for maps. */
function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, KEY_BYTES).toString('latin1');
}

function keysOf(keys: readonly Uint8Array[]): Records {
  let at = 0;
  return { next: () => keys[at++] ?? null };
}
