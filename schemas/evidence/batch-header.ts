/*
 * The header of a Merkle batch or of a roll-up, as canonical JSON (RFC 8785): the content of one leaf of the ledger
 * tree (docs/evidence-format.md §6). It commits to three trees: the entries (`root`), the streams with their
 * revisions (`streams_root`) and the person tags (`tags_root`).
 *
 * - `number` is the index of the leaf, and determines `level`. A roll-up has no `root`.
 * - The runs are sorted by stream key, one for each stream, and tile [0, count); tags are sorted and unique. Two
 *   neighbours therefore show that nothing lies between them.
 * - From leaf to leaf, `policies`, `sealed_at` and `after` never decrease.
 *
 * For example, the batch with the one entry of entry.ts (without the line breaks):
 *
 *   {"after":null,"count":1,"level":0,"number":0,"policies":1,
 *    "root":"1516b3cdc439914ed6d9e1095ae4d4f4ec7e4fac492360c206a003a2d681ecd9",
 *    "sealed_at":"2026-01-01T00:00:01.000Z","streams_count":1,
 *    "streams_root":"8b143c562462a781d3aeb0b74afbcd9160612a9b7b727fc067109d9c4cf379e8","tags_count":0,
 *    "tags_root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","v":1}
 *
 * `root` is the leaf hash of that entry, `streams_root` the leaf of the run {start: 0, first: 0, last: 0} of `policy`,
 * and `tags_root` the root of an empty tree, SHA-256 of nothing. The header's own leaf hash is
 * 1daa9d7d1bc37a8173780a43a58fbbd0dac5c559e5b7ef9c5f4f4c3ab2e6c2b6.
 */
import * as z from 'zod';
import { sha256 } from '../crypto/digest.js';
import { concatBytes, fromHex, toHex, uint64, utf8 } from '../crypto/encoding.js';
import { POLICY_STREAM } from '../events/streams.js';
import { canonicalJson } from '../json/canonical-json.js';
import { leafHash } from '../merkle/hashing.js';
import { treeRoot } from '../merkle/tree.js';
import { Count, Instant, Sha256Hex, StreamName } from './primitives.js';
import { type Level, levelOf } from './roll-ups.js';

/**
 * A leaf of the ledger tree: a batch of entries, or a roll-up of the batches before it. Its canonical
 * text is the content of leaf `number`.
 */
export const BatchHeader = z
  .strictObject({
    v: z.literal(1),
    /** Index in the ledger tree, from 0. */
    number: Count,
    /** 0 for a batch, 1 and 2 for a roll-up (`levelOf`). */
    level: z.union([z.literal(0), z.literal(1), z.literal(2)]),
    /** Number of entries: of the batch, or of all batches that the roll-up covers. */
    count: Count,
    /**
     * RFC 6962 root over the entries' leaf hashes, sorted by stream key and revision, or null for a roll-up.
     */
    root: Sha256Hex.nullable(),
    /** Number of leaves under `streams_root`. */
    streams_count: Count,
    /** RFC 6962 root over the runs (`runLeaf`), sorted by stream key. */
    streams_root: Sha256Hex,
    /** Number of consents, and so of leaves under `tags_root`. */
    tags_count: Count,
    /** RFC 6962 root over the consents' person tags, in increasing order. */
    tags_root: Sha256Hex,
    /**
     * Number of events of the stream `policy` in this batch and all batches before it. With the last leaf of the ledger
     * tree, a receipt shows that it leaves out no policy.
     */
    policies: Count,
    /** max(clock, `sealed_at` of the leaf before). The service's claim. */
    sealed_at: Instant,
    /**
     * The newest time stamp response that existed when this batch was sealed. It proves that the sealing came later.
     * Null before the first response.
     */
    after: z.strictObject({ size: Count, sha256: Sha256Hex }).nullable(),
  })
  .refine(({ number, level }) => level === levelOf(number), { path: ['level'], error: 'is not that of the number' })
  .refine(({ level, root }) => (level === 0) === (root !== null), { path: ['root'], error: 'only a batch has one' });
export type BatchHeader = z.infer<typeof BatchHeader>;

/** Whether a leaf of the ledger tree is a batch, which has entries, rather than a roll-up. */
export function isBatch(level: Level): boolean {
  return level === 0;
}

/** Consecutive revisions of one stream, both ends included. */
export const RevisionRun = z.strictObject({ stream: StreamName, first: Count, last: Count });
export type RevisionRun = z.infer<typeof RevisionRun>;

/**
 * The numbers of a run: one stream's revisions in a batch, or in the batches of a roll-up. In a batch,
 * `start` is the index of the first one's leaf. The runs of a batch or roll-up tile [0, count).
 */
export const RunPlace = z.strictObject({ start: Count, first: Count, last: Count });
export type RunPlace = z.infer<typeof RunPlace>;

/** The run of a stream that is known by its name. */
export interface StreamRun extends RunPlace {
  readonly stream: string;
}

export function batchHeaderText(header: BatchHeader): string {
  return canonicalJson(header);
}

/** The batch's leaf in the ledger tree, 32 bytes. */
export function batchLeaf(headerText: string): Uint8Array {
  return leafHash(utf8(headerText));
}

const KEY_PREFIX = concatBytes(utf8('consent-ledger stream key v1'), Uint8Array.of(0));

/**
 * The name of a stream in the structure of the ledger, by which streams are sorted: SHA-256("consent-ledger stream key
 * v1" ‖ 0x00 ‖ salt ‖ name). The structure is published: without the salt, which packages of the site state, no one can
 * tell which site a key belongs to.
 * @param salt salt of the site, 32 bytes; empty for a stream that belongs to no site
 * @returns hex
 */
export function streamKey(stream: string, salt: Uint8Array): string {
  return toHex(sha256(KEY_PREFIX, salt, utf8(stream)));
}

/** The key of the stream `policy`, in hex. */
export const POLICY_KEY = streamKey(POLICY_STREAM, new Uint8Array());

/** Returns the key of a stream, in hex. */
export type StreamKeyOf = (stream: string) => string;

/**
 * Returns the keys of the streams of one site, and of the stream `policy`.
 * @param salt salt of the site, 32 bytes
 */
export function streamKeysOf(salt: Uint8Array): StreamKeyOf {
  return (stream) => (stream === POLICY_STREAM ? POLICY_KEY : streamKey(stream, salt));
}

/**
 * The leaf of a run under `streams_root`: SHA-256(0x00 ‖ key ‖ start ‖ first ‖ last), each number as 8
 * bytes, big-endian.
 * @param key decoded, 32 bytes
 * @returns 32 bytes
 */
export function runLeaf(key: Uint8Array, { start, first, last }: RunPlace): Uint8Array {
  return leafHash(concatBytes(key, uint64(start), uint64(first), uint64(last)));
}

/** A run with the key of its stream, in hex. */
export interface KeyedRun extends StreamRun {
  readonly key: string;
}

/**
 * Sorts runs by stream key and lets them tile: each starts where the previous run ends.
 * @param runs the runs, one for each stream
 */
export function tiledRuns(runs: readonly RevisionRun[], keyOf: StreamKeyOf): readonly KeyedRun[] {
  let start = 0;
  return runs
    .map((run) => ({ ...run, key: keyOf(run.stream) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map((run) => {
      const tiled = { ...run, start };
      start += run.last - run.first + 1;
      return tiled;
    });
}

/** The leaf of a run, 32 bytes. */
export function keyedRunLeaf(run: Omit<KeyedRun, 'stream'>): Uint8Array {
  return runLeaf(fromHex(run.key) ?? new Uint8Array(), run);
}

/** The root over the runs of a batch or roll-up, 32 bytes. @param runs the runs that `tiledRuns` returns */
export function streamsRoot(runs: readonly KeyedRun[]): Uint8Array {
  return treeRoot(runs.map(keyedRunLeaf));
}
