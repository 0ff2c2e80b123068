import { type NamedKey, signedNote } from './keys.js';
import { base64, canonical, concat, hex, type Json, type JsonRecord, sha256, sha256Hex, utf8 } from './primitives.js';
import type { TimeAuthority } from './time-authority.js';
import { leafHash, Tree } from './trees.js';

/** A value of a record with the disclosure that opens it. */
export interface PlannedValue {
  readonly name: string;
  readonly value: Json;
  /** The disclosure string. */
  readonly text: string;
  /** The bytes that the value names, if it is an attachment. */
  readonly attachment: Uint8Array | null;
}

/** Whether events of this type have a consent. */
export function isConsent(type: string): boolean {
  return type === 'ConsentRecorded.v1' || type === 'ConsentImported.v1';
}

/** An event that the ledger will seal. */
export interface PlannedEvent {
  /** Name of the event in the forgeries. */
  readonly label: string;
  stream: string;
  type: string;
  record: JsonRecord;
  /** Person of the record: a key of the plan's persons. Null: the record has no person. */
  person: string | null;
  values: PlannedValue[];
  /** Number that the operator gives the person's record; default: the next one. */
  number?: number;
  /** Tag that the operator gives the event; default: that of the format. */
  tag?: Uint8Array;
}

export interface PlannedStamp {
  readonly size: number;
  /** genTime, milliseconds since 1970. */
  readonly time: number;
}

/** Everything from which a ledger is made. A forgery changes a plan before the ledger is made. */
export interface Plan {
  readonly origin: string;
  /** Number of leaves of the ledger tree. */
  size: number;
  readonly start: number;
  /** Events by the number of their batch. */
  readonly batches: Map<number, PlannedEvent[]>;
  /** In increasing size; the last one is over the whole ledger. */
  stamps: PlannedStamp[];
  /** Ids of persons, 32 bytes each. */
  readonly persons: Map<string, Uint8Array>;
  /** Bytes of document versions. */
  readonly texts: Uint8Array[];
  readonly keys: { readonly first: NamedKey; readonly next: NamedKey; readonly manifest: NamedKey };
  /** The keys that sign the checkpoint of a size, the ones in force after it last. */
  signers: (size: number) => readonly NamedKey[];
}

export interface Run {
  stream: string;
  start: number;
  first: number;
  last: number;
}

/** An entry in its batch. */
export interface Leaf {
  readonly event: PlannedEvent;
  readonly stream: string;
  readonly revision: number;
  readonly text: string;
  readonly hash: Uint8Array;
  readonly tag: Uint8Array | null;
}

/** A leaf of the ledger tree, with everything below it. */
export interface SealedLeaf {
  readonly number: number;
  readonly level: 0 | 1 | 2;
  readonly headerText: string;
  readonly leaves: readonly Leaf[];
  readonly entryTree: Tree;
  readonly runs: readonly Run[];
  readonly streamTree: Tree;
  readonly tags: readonly Uint8Array[];
  readonly tagTree: Tree;
}

export interface SealedCheckpoint extends PlannedStamp {
  readonly note: Uint8Array;
  readonly response: Uint8Array;
}

export interface Ledger {
  readonly plan: Plan;
  readonly sealed: readonly SealedLeaf[];
  readonly tree: Tree;
  readonly checkpoints: readonly SealedCheckpoint[];
}

/** Lies that are told while the ledger is made. Everything above a lie is consistent with it. */
export interface LedgerLies {
  readonly entry?: ((entry: JsonRecord, event: PlannedEvent) => void) | undefined;
  /** Returns the leaves of a batch: reordered, repeated, or fewer. */
  readonly leaves?: ((leaves: readonly Leaf[], number: number) => readonly Leaf[]) | undefined;
  /** Returns the runs that `streams_root` is over, for batches and roll-ups. */
  readonly runs?: ((runs: readonly Run[], number: number) => readonly Run[]) | undefined;
  /** Returns the tags that `tags_root` is over, for batches and roll-ups. */
  readonly tags?: ((tags: readonly Uint8Array[], number: number) => readonly Uint8Array[]) | undefined;
  readonly header?: ((header: JsonRecord, number: number) => void) | undefined;
  /** Returns another leaf hash than that of version 1.0; null: that one. */
  readonly hash?: ((kind: HashedKind, content: Uint8Array, number: number) => Uint8Array | null) | undefined;
}

/** Content that is hashed as a leaf, in or as the batch of a number. */
export type HashedKind = 'entry' | 'header' | 'run' | 'tag';

export function levelOf(number: number): 0 | 1 | 2 {
  if ((number + 1) % 16_384 === 0) return 2;
  return (number + 1) % 128 === 0 ? 1 : 0;
}

/** The roll-ups over a batch that lie below a size. */
export function rollUpsOver(number: number, size: number): readonly number[] {
  const ends = [128, 16_384].map((period) => (Math.floor(number / period) + 1) * period - 1);
  return [...new Set(ends)].filter((end) => end < size);
}

/** The cover of a checkpoint of this size. */
export function coverOf(size: number): readonly number[] {
  const cover: number[] = [];
  let next = 0;
  for (const period of [16_384, 128, 1]) {
    while (next + period <= size) {
      next += period;
      cover.push(next - 1);
    }
  }
  return cover;
}

/** The salt of the site of a stream; empty for a stream of no site. */
export const saltOf = (stream: string): Uint8Array => {
  const site = /^(?:consents|notices)-(.*)$/.exec(stream)?.[1];
  return site === undefined ? new Uint8Array() : sha256(`salt of ${site}`);
};

export const streamKey = (stream: string): Uint8Array =>
  sha256(concat(utf8('consent-ledger stream key v1'), new Uint8Array(1), saltOf(stream), utf8(stream)));

/** Returns the content whose hash is the leaf of a run. */
function runContent({ stream, start, first, last }: Run): Uint8Array {
  return concat(streamKey(stream), ...[start, first, last].map(bigEndian));
}

/** The tag of a person's n-th record. */
export function personTag(id: Uint8Array, n: number): Uint8Array {
  return sha256(concat(utf8('consent-ledger person tag v1'), new Uint8Array(1), id, bigEndian(n)));
}

export function bigEndian(n: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(n));
  return bytes;
}

/** The tag of the first erasure of the record with this event id. */
export function erasureTag(eventId: string): Uint8Array {
  return sha256(concat(utf8('consent-ledger erasure v1'), new Uint8Array(1), utf8(eventId)));
}

export const byBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);
const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Makes the ledger of a plan. */
export function makeLedger(plan: Plan, authority: TimeAuthority, lies: LedgerLies = {}): Ledger {
  const entries = new EntryWriter(plan, lies);
  const sealed: SealedLeaf[] = [];
  const hashes: Uint8Array[] = [];
  const tree = new Tree(hashes);
  const checkpoints: SealedCheckpoint[] = [];
  let policies = 0;
  for (let number = 0; number < plan.size; number += 1) {
    const level = levelOf(number);
    const honest = level === 0 ? sortedLeaves(entries.write(number)) : [];
    const leaves = lies.leaves?.(honest, number) ?? honest;
    const below = sealed.slice(Math.max(0, number + 1 - (level === 2 ? 16_384 : 128)), number);
    const batches = below.filter((one) => one.level === 0);
    const parts = level === 0 ? [runsOf(leaves)] : batches.map(({ runs }) => runs);
    const tiled = tiledRuns(parts.flat());
    const runs = lies.runs?.(tiled, number) ?? tiled;
    const own = level === 0 ? leaves.flatMap(({ tag }) => tag ?? []) : batches.flatMap((one) => one.tags);
    const sorted = own.toSorted(byBytes);
    const tags = lies.tags?.(sorted, number) ?? sorted;
    policies += leaves.filter(({ stream }) => stream === 'policy').length;
    const entryTree = new Tree(leaves.map(({ hash }) => hash));
    const leafOf = (kind: HashedKind, content: Uint8Array): Uint8Array =>
      lies.hash?.(kind, content, number) ?? leafHash(content);
    const streamTree = new Tree(runs.map((run) => leafOf('run', runContent(run))));
    const tagTree = new Tree(tags.map((tag) => leafOf('tag', tag)));
    const last = runs.at(-1);
    const header: JsonRecord = {
      v: 1,
      number,
      level,
      count: level === 0 ? leaves.length : last === undefined ? 0 : last.start + last.last - last.first + 1,
      root: level === 0 ? hex(entryTree.root()) : null,
      streams_count: runs.length,
      streams_root: hex(streamTree.root()),
      tags_count: tags.length,
      tags_root: hex(tagTree.root()),
      policies,
      sealed_at: new Date(sealedAt(plan, number)).toISOString(),
      after: afterOf(checkpoints, sealedAt(plan, number)),
    };
    lies.header?.(header, number);
    const headerText = canonical(header);
    sealed.push({ number, level, headerText, leaves, entryTree, runs, streamTree, tags, tagTree });
    hashes.push(leafOf('header', utf8(headerText)));
    for (const stamp of plan.stamps.filter(({ size }) => size === number + 1))
      checkpoints.push(checkpoint(plan, stamp, tree.root(stamp.size), authority));
  }
  return { plan, sealed, tree, checkpoints };
}

/** When a batch is sealed: one every ten seconds. */
export function sealedAt(plan: Plan, number: number): number {
  return plan.start + number * 10_000;
}

/** Writes entries, and chains those of each stream. */
class EntryWriter {
  readonly #last = new Map<string, { readonly revision: number; readonly hash: Uint8Array }>();
  readonly #records = new Map<string, number>();
  /** Records that an erasure of their stream names, by stream and event id. */
  readonly #erased = new Set<string>();

  constructor(
    readonly plan: Plan,
    readonly lies: LedgerLies,
  ) {}

  write(number: number): readonly Leaf[] {
    return (this.plan.batches.get(number) ?? []).map((event) => this.#leaf(event, number));
  }

  #leaf(event: PlannedEvent, number: number): Leaf {
    const { stream, type, record } = event;
    const hasProof = isConsent(type);
    const last = this.#last.get(stream);
    const revision = last === undefined ? 0 : last.revision + 1;
    const own = hasProof ? this.#tag(event) : type === 'SubjectErased.v1' ? this.#erasureTag(event) : null;
    const tag = event.tag ?? own;
    const entry: JsonRecord = {
      v: 1,
      stream,
      revision,
      previous: last === undefined ? null : hex(last.hash),
      event_id: record.event_id ?? null,
      type,
      record,
      proof_hash: hasProof ? sha256Hex(`proof of ${canonical(record)}`) : null,
      person_tag: tag && hex(tag),
    };
    this.lies.entry?.(entry, event);
    const text = canonical(entry);
    const hash = this.lies.hash?.('entry', utf8(text), number) ?? leafHash(utf8(text));
    this.#last.set(stream, { revision, hash });
    return { event, stream, revision, text, hash, tag };
  }

  #tag({ person, record, number }: PlannedEvent): Uint8Array {
    const id = person === null ? undefined : this.plan.persons.get(person);
    if (person === null || id === undefined) return sha256(`no person: ${String(record.event_id)}`);
    const n = number ?? (this.#records.get(person) ?? 0) + 1;
    this.#records.set(person, n);
    return personTag(id, n);
  }

  #erasureTag({ stream, record }: PlannedEvent): Uint8Array {
    const erased = `${stream} ${String(record.erased_event_id)}`;
    const isSecond = this.#erased.has(erased);
    this.#erased.add(erased);
    return isSecond ? sha256(`no record: ${String(record.event_id)}`) : erasureTag(String(record.erased_event_id));
  }
}

function sortedLeaves(leaves: readonly Leaf[]): readonly Leaf[] {
  return leaves.toSorted((a, b) => byBytes(streamKey(a.stream), streamKey(b.stream)) || a.revision - b.revision);
}

function runsOf(leaves: readonly Leaf[]): readonly Run[] {
  return leaves.map(({ stream, revision }) => ({ stream, start: 0, first: revision, last: revision }));
}

/** One run for each stream, sorted by stream key, each starting where the one before ends. */
export function tiledRuns(parts: readonly Run[]): readonly Run[] {
  const joined = new Map<string, Run>();
  for (const { stream, first, last } of parts) {
    const known = joined.get(stream);
    if (known === undefined) joined.set(stream, { stream, start: 0, first, last });
    else Object.assign(known, { first: Math.min(known.first, first), last: Math.max(known.last, last) });
  }
  let start = 0;
  return [...joined.values()]
    .sort((a, b) => byText(hex(streamKey(a.stream)), hex(streamKey(b.stream))))
    .map((run) => {
      const tiled = { ...run, start };
      start += run.last - run.first + 1;
      return tiled;
    });
}

/** The newest response that existed before this time. */
function afterOf(checkpoints: readonly SealedCheckpoint[], time: number): Json {
  const newest = checkpoints.filter((one) => one.time <= time).at(-1);
  return newest === undefined ? null : { size: newest.size, sha256: sha256Hex(newest.response) };
}

function checkpoint(plan: Plan, stamp: PlannedStamp, root: Uint8Array, authority: TimeAuthority): SealedCheckpoint {
  const text = `${plan.origin}\n${stamp.size}\n${base64(root)}\n`;
  const note = utf8(signedNote(text, ...plan.signers(stamp.size)));
  return { ...stamp, note, response: authority.stamp(note, new Date(stamp.time)) };
}
