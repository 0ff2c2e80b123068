import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { BatchHeader, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../schemas/evidence/signed-note.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { TablesDiffer } from './errors.js';
import { isSignedBy } from './ledger-rules.js';
import {
  type AnnouncedKey,
  announcedKey,
  type FollowedLedger,
  readFrontier,
  rootOf,
  SealedHeads,
  withLeaf,
} from './ledger-state.js';
import { readLedgerKeys, readNewestCheckpoint, readPublishedSaltKey } from './read-ledger.js';
import { NO_STREAM_KEYS, streamKeysUnder } from './stream-keys.js';

/** A ledger without events. */
export function emptyLedger(): FollowedLedger {
  return {
    revision: -1,
    logPosition: null,
    size: 0,
    sealedAt: null,
    policies: 0,
    stamped: null,
    pending: null,
    key: null,
    mlDsaKey: null,
    tree: { size: 0, frontier: [], previous: null },
    keyOf: NO_STREAM_KEYS,
    announced: null,
    skipped: [],
    heads: new SealedHeads(),
  };
}

/**
 * Begins to follow the ledger at its newest stamped checkpoint instead of reading its whole history. The root in the
 * checkpoint verifies the stored frontier of the tree, and the signature verifies the stored key. Without such a
 * checkpoint, the ledger is followed from its first event.
 * @param last last revision that the tables have
 * @returns the ledger at the event that completed the checkpoint
 * @throws TablesDiffer, InvalidEventBody, EventLogUnavailable, database errors
 */
export async function openLedger(db: Queryable, eventLog: EventLog, last: number): Promise<FollowedLedger> {
  const newest = await readNewestCheckpoint(eventLog, last);
  if (newest === null) return emptyLedger();
  const { revision, stamp, batches } = newest;
  const checkpoint = checkpointOf(stamp);
  const covered = batches[0];
  const isCovered = covered !== undefined && headerOf(covered.header).number === stamp.size - 1;
  if (checkpoint === null || !isCovered) return emptyLedger();
  const { hashes } = await readCheckedFrontier(db, stamp.size);
  let tree: FollowedLedger['tree'] = { size: stamp.size, frontier: hashes, previous: null };
  if (!equalBytes(rootOf(tree), checkpoint.root))
    throw new TablesDiffer('ledger_nodes', `frontier of size ${stamp.size}`, 'a stamped checkpoint has another root');
  // The checkpoint hands over to keys that an earlier batch announced.
  let announced: AnnouncedKey | null = null;
  for (const body of batches.slice(1)) {
    tree = withLeaf(tree, batchLeaf(body.header));
    announced = announcedKey(tree.size - 1, body) ?? announced;
  }
  const { sealed_at: sealedAt, policies } = headerOf((batches.at(-1) ?? covered).header);
  return {
    ...emptyLedger(),
    revision,
    size: tree.size,
    sealedAt: new Date(sealedAt),
    policies,
    stamped: { size: stamp.size, sha256: toHex(sha256(stamp.tsr)) },
    ...(await keysAfter(db, stamp.note, checkpoint)),
    announced,
    tree,
    keyOf: streamKeysUnder(await readPublishedSaltKey(eventLog)),
  };
}

function headerOf(text: string): BatchHeader {
  return BatchHeader.parse(JSON.parse(text));
}

function checkpointOf({ note }: CheckpointStampedBody): Checkpoint | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseCheckpoint(parsed.text);
}

async function readCheckedFrontier(db: Queryable, size: number): ReturnType<typeof readFrontier> {
  try {
    return await readFrontier(db, size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TablesDiffer('ledger_nodes', `frontier of size ${size}`, 'a node is missing');
  }
}

/** Returns the newest keys of the ledger that signed a checkpoint. They also sign the next ones. */
async function keysAfter(
  db: Queryable,
  text: string,
  { size }: Checkpoint,
): Promise<Pick<FollowedLedger, 'key' | 'mlDsaKey'>> {
  const note = parseNote(text);
  for (const { key, ml_dsa_key: mlDsaKey } of (await readLedgerKeys(db)).toReversed()) {
    if (note !== null && (await isSignedBy(note, [key, mlDsaKey]))) return { key, mlDsaKey };
  }
  throw new TablesDiffer('ledger_keys', `key of checkpoint ${size}`, 'no stored key signed it');
}
