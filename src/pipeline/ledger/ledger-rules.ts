import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import {
  BATCH_SEALED,
  BatchSealedBody,
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
  EVIDENCE_KEPT,
  EvidenceKeptBody,
  LEDGER_EVENT_SKIPPED,
  LEDGER_KEY_PUBLISHED,
  LEDGER_RESTORED,
  LedgerEventSkippedBody,
  LedgerKeyPublishedBody,
  LedgerRestoredBody,
} from '../../../schemas/events/ledger.js';
import { InvalidEventBody, parseBody } from '../../../schemas/events/sealed-event.js';
import { type BatchHeader, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { NewEvent } from '../event-log/port.js';
import { batchHeaderOf } from './batch-rules.js';
import { bridgeOf, nextKeysOf } from './checkpoint-rules.js';
import { LedgerCorrupt } from './errors.js';
import { type FollowedLedger, type KeyBridge, withLeaf, withoutSizesUpTo } from './followed-ledger.js';
import { SALT_KEY_BYTES, streamKeysUnder } from './stream-keys.js';

/** The change that an event of the ledger makes to the tables. */
export type LedgerChange =
  | { readonly kind: 'batch'; readonly header: BatchHeader; readonly body: BatchSealedBody }
  | { readonly kind: 'stamp'; readonly body: CheckpointStampedBody; readonly bridge: KeyBridge | null }
  | { readonly kind: 'evidence'; readonly body: EvidenceKeptBody }
  | { readonly kind: 'first-key'; readonly body: LedgerKeyPublishedBody }
  | { readonly kind: 'note' };

export interface FollowedEvent {
  readonly state: FollowedLedger;
  readonly change: LedgerChange;
}

/**
 * Follows the ledger by one event: every rule that the stream alone decides. Whether the leaves of a
 * batch are those of the events that it names is decided by `checkBatch`.
 * @throws LedgerCorrupt if the event cannot follow
 */
export async function followEvent(
  state: FollowedLedger,
  event: Pick<NewEvent, 'type' | 'data'>,
): Promise<FollowedEvent> {
  const revision = state.revision + 1;
  try {
    return await followValid({ ...state, revision }, event);
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new LedgerCorrupt(revision, error.message);
  }
}

async function followValid(
  state: FollowedLedger,
  { type, data }: Pick<NewEvent, 'type' | 'data'>,
): Promise<FollowedEvent> {
  switch (type) {
    case BATCH_SEALED:
      return followBatch(state, parseBody(BatchSealedBody, type, data));
    case CHECKPOINT_STAMPED:
      return followStamp(state, parseBody(CheckpointStampedBody, type, data));
    case EVIDENCE_KEPT:
      return followEvidence(state, parseBody(EvidenceKeptBody, type, data));
    case LEDGER_KEY_PUBLISHED:
      return followKey(state, parseBody(LedgerKeyPublishedBody, type, data));
    case LEDGER_RESTORED:
      // The event changes nothing. It documents in `ledger` why two histories exist.
      parseBody(LedgerRestoredBody, type, data);
      return { state, change: { kind: 'note' } };
    case LEDGER_EVENT_SKIPPED:
      return followSkip(state, parseBody(LedgerEventSkippedBody, type, data));
    default:
      throw new LedgerCorrupt(state.revision, `events of type ${type} do not belong there`);
  }
}

function followBatch(state: FollowedLedger, body: BatchSealedBody): FollowedEvent {
  const header = batchHeaderOf(state, body);
  const next = {
    ...state,
    size: header.number + 1,
    sealedAt: new Date(header.sealed_at),
    policies: header.policies,
    tree: withLeaf(state.tree, batchLeaf(body.header)),
  };
  return { state: next, change: { kind: 'batch', header, body } };
}

async function followStamp(state: FollowedLedger, body: CheckpointStampedBody): Promise<FollowedEvent> {
  const bridge = await bridgeOf(state, body);
  const token = { sha256: toHex(sha256(body.tsr)), organization: body.organization };
  const change = { kind: 'stamp', body, bridge } as const;
  if (body.number < body.quorum) {
    const tokens = [...(state.pending?.tokens ?? []), token];
    return { state: { ...state, pending: { size: body.size, note: body.note, tokens } }, change };
  }
  const next = {
    ...state,
    pending: null,
    stamped: { size: body.size, sha256: token.sha256 },
    tree: withoutSizesUpTo(state.tree, body.size),
    ...(bridge !== null && { key: bridge.key, mlDsaKey: bridge.mlDsaKey, bridge: { ...bridge, size: body.size } }),
  };
  return { state: next, change };
}

/** The digest of an item with several parts is checked where the item is used: the parts may be far apart. */
function followEvidence(state: FollowedLedger, body: EvidenceKeptBody): FollowedEvent {
  if (body.parts === 1 && toHex(sha256(body.data)) !== body.sha256)
    throw new LedgerCorrupt(state.revision, 'its data does not match its hash');
  return { state, change: { kind: 'evidence', body } };
}

function followKey(state: FollowedLedger, body: LedgerKeyPublishedBody): FollowedEvent {
  const { key, ml_dsa_key: mlDsaKey, replaces, salt_key: saltKey } = body;
  if (replaces !== null) {
    // The bridging checkpoint has changed the key already.
    const { bridge } = state;
    const isAnnounced = bridge?.key === key && bridge.replaces === replaces.key && bridge.size === replaces.bridge_size;
    if (isAnnounced && state.key === key && state.mlDsaKey === mlDsaKey)
      return { state: { ...state, bridge: null }, change: { kind: 'note' } };
  }
  if (replaces !== null || state.key !== null)
    throw new LedgerCorrupt(state.revision, 'the key does not follow the one before');
  if (nextKeysOf(parseVerifierKey(key)?.name ?? '', [key, mlDsaKey]) === null)
    throw new LedgerCorrupt(state.revision, 'its keys are not one of Ed25519 and one of ML-DSA-44, of one name');
  if (saltKey?.length !== SALT_KEY_BYTES)
    throw new LedgerCorrupt(state.revision, 'the first key comes without salt_key');
  return { state: { ...state, key, mlDsaKey, keyOf: streamKeysUnder(saltKey) }, change: { kind: 'first-key', body } };
}

function followSkip(state: FollowedLedger, { revision }: LedgerEventSkippedBody): FollowedEvent {
  if (!state.skipped.includes(revision))
    throw new LedgerCorrupt(state.revision, `it skips revision ${revision}, which was applied`);
  return {
    state: { ...state, skipped: state.skipped.filter((skipped) => skipped !== revision) },
    change: { kind: 'note' },
  };
}
