import * as z from 'zod';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { edgeNodes, Frontier, foldEdge } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Position } from '../event-log/port.js';
import { readTreeNodes } from './read-tree.js';

/** State of the ledger at one revision of its stream. */
export interface LedgerState {
  /** Last applied revision of `ledger`; -1: none. */
  readonly revision: number;
  /** Every event of a sealed stream up to this position is in a batch; null: unknown. */
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
  /** The checkpoint that some authorities have stamped, but not enough of them. */
  readonly pending: PendingCheckpoint | null;
  /** Verifier key of the newest published ledger key. */
  readonly key: string | null;
  /** That of its ML-DSA-44 key. */
  readonly mlDsaKey: string | null;
}

/** A checkpoint with fewer time stamps than its quorum. */
export interface PendingCheckpoint {
  readonly size: number;
  /** The exact text that its time stamps cover. */
  readonly note: string;
  /** Its time stamps in the order obtained, at least one. */
  readonly tokens: readonly { readonly sha256: string; readonly organization: string }[];
}

/** The last sealed event of a stream. */
export interface StreamHead {
  readonly revision: number;
  /** Leaf hash in hex; null before the first event. */
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
 * Reads the state that the tables show, in one statement, so in one snapshot. Nothing is appended or
 * signed by it: see `FollowedLedger`.
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
 * Returns the right edge of the ledger tree at one of its sizes.
 * @throws RangeError if a node is missing
 */
export async function readFrontier(db: Queryable, size: number): Promise<Frontier> {
  const wanted = edgeNodes(size);
  const find = await readTreeNodes(db, wanted);
  return new Frontier(
    size,
    wanted.flatMap((node) => find(node) ?? []),
  );
}

/** Returns the root of the ledger tree at one of its sizes, 32 bytes. */
export async function readLedgerRoot(db: Queryable, size: number): Promise<Uint8Array> {
  return foldEdge((await readFrontier(db, size)).edge);
}
