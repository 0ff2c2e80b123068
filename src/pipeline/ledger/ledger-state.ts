import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { sealedContent } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { entryLeaf, entryText } from '../../../schemas/evidence/entry.js';
import { Frontier, foldFrontier, frontierNodes } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Position, StreamEvent } from '../event-log/port.js';
import { readTreeNodes } from './batch-nodes.js';

/** A leaf of a Merkle batch. */
export interface SealedLeaf {
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Tag of a consent or an erasure, 32 bytes, or null for other events. */
  readonly tag: Uint8Array | null;
}

/**
 * Computes the leaf of an event, chained to the preceding one of its stream.
 * @param head the preceding event; its revision must be one less
 * @param tag the tag of a consent or an erasure, 32 bytes; null for other events
 * @throws InvalidEventBody if the event cannot be sealed
 * @throws RangeError if it does not follow `head`
 */
export function leafOf(event: StreamEvent, head: StreamHead, tag: Uint8Array | null): SealedLeaf {
  if (event.revision !== head.revision + 1) {
    throw new RangeError(`revision ${event.revision} of ${event.stream} does not follow ${head.revision}`);
  }
  const { recordText, proofHash } = sealedContent(event);
  const text = entryText({
    stream: event.stream,
    revision: event.revision,
    previous: head.leaf,
    eventId: event.id,
    type: event.type,
    recordText,
    proofHash,
    personTag: tag === null ? null : toHex(tag),
  });
  return { stream: event.stream, revision: event.revision, eventId: event.id, hash: entryLeaf(text), tag };
}

/** Returns the stream head that consists of this leaf. */
export function headOf(leaf: SealedLeaf): StreamHead {
  return { revision: leaf.revision, leaf: toHex(leaf.hash) };
}

/** Tracks the heads of streams while leaves are added to them. */
export class StreamHeads {
  readonly #heads = new Map<string, StreamHead>();

  has(stream: string): boolean {
    return this.#heads.has(stream);
  }

  get(stream: string): StreamHead {
    return this.#heads.get(stream) ?? NOTHING_SEALED;
  }

  set(stream: string, head: StreamHead): void {
    this.#heads.set(stream, head);
  }

  entries(): [string, StreamHead][] {
    return [...this.#heads];
  }
}

/** Number of stream ends that one process remembers. Others are read and verified again. */
const MAX_REMEMBERED = 50_000;

/** The ends of sealed streams that were verified against the ledger tree, or sealed by this process. */
export class SealedHeads {
  readonly #known = new Map<string, StreamHead>();

  get(stream: string): StreamHead | undefined {
    return this.#known.get(stream);
  }

  set(stream: string, head: StreamHead): void {
    this.#known.delete(stream);
    this.#known.set(stream, head);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Forgets streams that another process continued. */
  forget(streams: readonly string[]): void {
    for (const stream of streams) this.#known.delete(stream);
  }
}

/** The next keys of the ledger, whose announcement is sealed. */
export interface AnnouncedKey {
  readonly key: string;
  readonly mlDsaKey: string;
  /** Revision of the announcement in `policy`. */
  readonly revision: number;
  /**
   * Number of the Merkle batch with the announcement. Both the current keys and these sign the first checkpoint that
   * covers it.
   */
  readonly batch: number;
}

/** The next keys that a batch announces, or null if there is none. @param batch its number */
export function announcedKey(batch: number, { announced }: BatchSealedBody): AnnouncedKey | null {
  if (announced === undefined) return null;
  return { key: announced.key, mlDsaKey: announced.ml_dsa_key, revision: announced.revision, batch };
}

/** The ledger tree at one size. */
export interface LedgerTree {
  readonly size: number;
  /** Roots of its perfect subtrees, largest first. */
  readonly frontier: readonly Uint8Array[];
  /** The tree without its last leaf, or null if no further checkpoint can have that size. */
  readonly previous: LedgerTree | null;
}

/**
 * The ledger, read from its stream in the event log. This state decides every append and signature; no derived table
 * does, because a row that was wrong for a moment would otherwise be wrong forever.
 */
export interface FollowedLedger extends LedgerState {
  readonly tree: LedgerTree;
  readonly keyOf: StreamKeyOf;
  /** The next keys, until a stamped checkpoint covers their announcement. */
  readonly announced: AnnouncedKey | null;
  /** Skipped revisions whose `LedgerEventSkipped` has not been reached yet. */
  readonly skipped: readonly number[];
  /** Verified ends of the sealed streams. */
  readonly heads: SealedHeads;
}

/** The root of the ledger tree, 32 bytes. */
export function rootOf({ frontier }: LedgerTree): Uint8Array {
  return foldFrontier(frontier);
}

/** Returns the root, 32 bytes, at a size for which a checkpoint can still be created, or null for other sizes. */
export function rootAt(tree: LedgerTree, size: number): Uint8Array | null {
  let at: LedgerTree | null = tree;
  while (at !== null && at.size > size) at = at.previous;
  return at?.size === size ? rootOf(at) : null;
}

/** The tree with one more leaf. */
export function withLeaf(tree: LedgerTree, leaf: Uint8Array): LedgerTree {
  const frontier = new Frontier(tree.size, tree.frontier);
  frontier.append(leaf);
  return { size: frontier.size, frontier: frontier.hashes, previous: tree };
}

/** Returns the tree without the sizes up to `size`, which no longer need a checkpoint. */
export function withoutSizesUpTo(tree: LedgerTree, size: number): LedgerTree {
  const kept: LedgerTree[] = [];
  for (let at: LedgerTree | null = tree; at !== null && at.size > size; at = at.previous) kept.push(at);
  const trimmed = kept.reduceRight<LedgerTree | null>(
    (previous, { size, frontier }) => ({ size, frontier, previous }),
    null,
  );
  return trimmed ?? { size: tree.size, frontier: tree.frontier, previous: null };
}

/** State of the ledger at one revision of its stream. */
export interface LedgerState {
  /** Last applied revision of `ledger`, or -1 if there is none. */
  readonly revision: number;
  /** Position up to which every event of a sealed stream is in a Merkle batch, or null if it is unknown. */
  readonly logPosition: Position | null;
  /** Number of Merkle batches, which is the size of the ledger tree. */
  readonly size: number;
  /** `sealed_at` of the newest batch. */
  readonly sealedAt: Date | null;
  /** Number of sealed events of the stream `policy`. */
  readonly policies: number;
  /**
   * The newest checkpoint that enough authorities have stamped, and the newest of its responses.
   */
  readonly stamped: { readonly size: number; readonly sha256: string } | null;
  /** The checkpoint that some authorities have stamped, but not yet enough of them. */
  readonly pending: PendingCheckpoint | null;
  /** Verifier key of the newest published ledger key. */
  readonly key: string | null;
  /** Verifier key of its ML-DSA-44 key. */
  readonly mlDsaKey: string | null;
}

/** A checkpoint with fewer time stamps than its quorum. */
export interface PendingCheckpoint {
  readonly size: number;
  /** The exact text that its time stamps cover. */
  readonly note: string;
  /** Its time stamps in the order in which they were obtained, at least one. */
  readonly tokens: readonly { readonly sha256: string; readonly organization: string }[];
}

/** The last sealed event of a stream. */
export interface StreamHead {
  readonly revision: number;
  /** Leaf hash in hex, or null before the first event. */
  readonly leaf: string | null;
}
export const NOTHING_SEALED: StreamHead = { revision: -1, leaf: null };

const stateRows = z
  .array(
    z.object({
      ledger_revision: z.int(),
      log_position: z.string().nullable(),
      size: z.int(),
      sealed_at: z.date().nullable(),
      policies: z.int(),
      stamped_size: z.int().nullable(),
      tsr_sha256: z.string().nullable(),
      key: z.string().nullable(),
      ml_dsa_key: z.string().nullable(),
      pending_size: z.int().nullable(),
      pending_note: z.string().nullable(),
      pending_sha256: z.array(z.string()).nullable(),
      pending_organizations: z.array(z.string()).nullable(),
    }),
  )
  .length(1);

/**
 * Reads the state that the tables show, with one statement and thus from one snapshot. It never decides what is
 * appended or signed: see `FollowedLedger`.
 */
export async function readLedgerState(db: Queryable): Promise<LedgerState> {
  const { rows } = await db.query(
    `select s.ledger_revision, s.log_position, coalesce(b.number + 1, 0) as size, b.sealed_at,
           coalesce(h.revision + 1, 0) as policies, c.size as stamped_size, n.tsr_sha256, k.key, k.ml_dsa_key, p.size as pending_size, p.note as pending_note, p.sha256 as pending_sha256,
           p.organizations as pending_organizations
      from sealer_state s
      left join lateral (select number, sealed_at from batches order by number desc limit 1) b on true
      left join sealed_streams h on h.stream = $1
      left join lateral (select size from checkpoints order by size desc limit 1) c on true
      left join lateral (
        select tsr_sha256 from checkpoint_tokens where size = c.size order by number desc limit 1) n on true
      left join lateral (
        select size, min(note) as note, array_agg(tsr_sha256 order by number) as sha256,
               array_agg(organization order by number) as organizations
          from checkpoint_tokens where size > coalesce(c.size, 0) group by size) p on true
      left join lateral (select key, ml_dsa_key from ledger_keys order by handover_size desc nulls last limit 1) k on true`,
    [POLICY_STREAM],
  );
  const [row] = stateRows.parse(rows);
  if (row === undefined) throw new RangeError('the table sealer_state is empty');
  return {
    revision: row.ledger_revision,
    logPosition: row.log_position,
    size: row.size,
    sealedAt: row.sealed_at,
    policies: row.policies,
    stamped:
      row.stamped_size === null || row.tsr_sha256 === null ? null : { size: row.stamped_size, sha256: row.tsr_sha256 },
    pending: pendingOf(row),
    key: row.key,
    mlDsaKey: row.ml_dsa_key,
  };
}

function pendingOf(row: z.infer<typeof stateRows>[number]): PendingCheckpoint | null {
  const { pending_size: size, pending_note: note, pending_sha256: digests, pending_organizations: names } = row;
  if (size === null || note === null || digests === null || names === null) return null;
  return { size, note, tokens: digests.map((sha256, index) => ({ sha256, organization: names[index] ?? '' })) };
}

/**
 * Returns the frontier of the ledger tree at one of its sizes.
 * @throws RangeError if a node is missing
 */
export async function readFrontier(db: Queryable, size: number): Promise<Frontier> {
  const wanted = frontierNodes(size);
  const find = await readTreeNodes(db, wanted);
  return new Frontier(
    size,
    wanted.flatMap((node) => find(node) ?? []),
  );
}

/** Returns the root of the ledger tree at one of its sizes, 32 bytes. */
export async function readLedgerRoot(db: Queryable, size: number): Promise<Uint8Array> {
  return foldFrontier((await readFrontier(db, size)).hashes);
}
