import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { CHECKPOINT_STAMPED } from '../../../schemas/events/ledger.js';
import { checkpointText } from '../../../schemas/evidence/checkpoint.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/authorities.js';
import type { ObtainedTimestamp, TimestampClient } from '../../timestamping/client.js';
import { eventSize } from '../event-log/event-checks.js';
import type { EventLog, NewEvent } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import { keysDueAt } from '../ledger/ledger-rules.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from '../ledger/ledger-signer.js';
import { type FollowedLedger, type LedgerState, rootOf } from '../ledger/ledger-state.js';
import { announceLedgerKey, readStampsDemanded } from '../ledger/policy.js';
import { sealPolicyEvents } from '../sealer/seal.js';
import { evidenceDigests, evidenceOf, keepEvidence, keepNotices } from './keep-evidence.js';

/** Signers of the checkpoints of a ledger. */
export interface CheckpointSigners {
  /** The current keys. */
  readonly signer: LedgerSigner;
  /** Opens the next keys, if the keyring has any. They also sign the first checkpoint over their announcement. */
  readonly openNext?: () => Promise<LedgerSigner | null>;
}

/**
 * Builds the signed checkpoint of the size of `state`. The signatures are deterministic, so each size has exactly one
 * note.
 * @throws LedgerKeyMismatch if the announced keys must sign, and cannot be opened; the errors of `LedgerSigner`
 */
export async function checkpointNote({ signer, openNext }: CheckpointSigners, state: FollowedLedger): Promise<string> {
  const { origin } = signer;
  const checkpoint = { origin, size: state.size, root: rootOf(state.tree) };
  const signatures = [...(await signer.signCheckpoint(checkpoint))];
  const announced = keysDueAt(state, state.size);
  if (announced !== null) {
    const next = (await openNext?.()) ?? null;
    if (next === null || verifierKeyOf(next) !== announced.key)
      throw new LedgerKeyMismatch(announced.key, verifierKeyOf(next ?? signer));
    signatures.push(...(await next.signCheckpoint(checkpoint)));
  }
  return formatNote(checkpointText(checkpoint), signatures);
}

export interface StampRequest {
  /** Note of the checkpoint; the time stamp is over its exact bytes. */
  readonly note: string;
  /** The newest time stamp of a smaller checkpoint; the new one must not precede it. */
  readonly previous: StatedTime | null;
  /** Organizations whose time stamps the checkpoint has. */
  readonly exclude: readonly string[];
}

/** A time stamp, and the SHA-256 of its response in hex. */
interface ObtainedStamp {
  readonly stamp: ObtainedTimestamp;
  readonly sha256: string;
}

/**
 * Obtains a time stamp for a note.
 * @throws TimestampUnavailable
 */
export async function obtainStamp(
  client: TimestampClient,
  { note, previous, exclude }: StampRequest,
  signal: AbortSignal,
): Promise<ObtainedStamp> {
  const stamp = await client.stamp(utf8(note), { signal, exclude, ...(previous && { previous }) });
  return { stamp, sha256: toHex(sha256(stamp.response)) };
}

/**
 * Builds the event of a time stamp. `keepEvidence` comes before it.
 * @param number position among the time stamps of the checkpoint, from 1
 * @param quorum number of authorities that must stamp a checkpoint
 */
export function stampedEvent(
  { stamp }: ObtainedStamp,
  { size, note, number, quorum }: Readonly<Record<'size' | 'number' | 'quorum', number>> & { readonly note: string },
): NewEvent {
  return ledgerEvent(CHECKPOINT_STAMPED, {
    v: 1,
    size,
    number,
    quorum,
    note,
    tsr: toBase64(stamp.response),
    authority: stamp.authority,
    organization: stamp.organization,
    gen_time: stamp.genTime.toISOString(),
    ...evidenceDigests(stamp),
  });
}

interface StampingOptions extends CheckpointSigners {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint. */
  readonly quorum: number;
  /**
   * Stores the ledger's state outside the database; called before a checkpoint leaves the service.
   */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
}

/**
 * Obtains time stamps for one checkpoint until enough authorities have stamped it, and appends each to `ledger`
 * immediately, so that a later call continues with those that are still missing. The checkpoint is the pending one, or
 * else that of `state.size`. Nothing is appended if another process was first.
 * @param state the ledger as it was followed: it contains that size
 * @param previous the newest time stamp of a smaller checkpoint; the new ones must not precede it
 * @returns the ledger's state afterwards, and whether this call obtained the last time stamp. The
 *   state is stamped at that size or above, or another process began another checkpoint
 * @throws TimestampUnavailable
 * @throws LedgerKeyMismatch if the ledger's key was changed in the meantime
 * @throws the errors of `tryAppendToLedger` and `catchUpLedger`
 */
export async function stampCheckpoint(
  options: StampingOptions,
  state: FollowedLedger,
  previous: StatedTime | null,
  signal: AbortSignal,
): Promise<{ readonly state: FollowedLedger; readonly isOwn: boolean }> {
  const { db, eventLog, signer, client, quorum, rememberHead } = options;
  const { size } = state.pending ?? state;
  const note = state.pending?.note ?? (await checkpointNote(options, state));
  await rememberHead?.(state);
  let current = await keepNotices(db, eventLog, state);
  let newest: ObtainedStamp | null = null;
  while (!isStamped(current, size) && mayFollow(current, size, note)) {
    const exclude = excludedBy(current, quorum);
    const obtained = await obtainStamp(client, { note, previous, exclude }, signal);
    newest = obtained;
    const gathered = evidenceOf(obtained.stamp);
    current = await catchUpLedger(db, eventLog, { from: current });
    while (mayFollow(current, size, note) && isMissing(current, size, obtained, quorum)) {
      // The append succeeds only at this revision, so no checkpoint by a replaced key can enter the ledger.
      if (current.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(current.key, verifierKeyOf(signer));
      const number = (current.pending?.tokens.length ?? 0) + 1;
      const event = stampedEvent(obtained, { size, note, number, quorum });
      const { ledger, rest } = await keepEvidence(db, eventLog, current, gathered, eventSize(event));
      // Otherwise the ledger has grown meanwhile, and the rules are checked again.
      if (ledger === current) await tryAppendToLedger(eventLog, current, ...rest, event);
      current = await catchUpLedger(db, eventLog, { from: ledger });
    }
  }
  return { state: current, isOwn: newest !== null && current.stamped?.sha256 === newest.sha256 };
}

function isStamped({ stamped }: LedgerState, size: number): boolean {
  return (stamped?.size ?? 0) >= size;
}

/**
 * Returns whether a time stamp of this checkpoint may come next. If another process has begun a checkpoint of another
 * size, that one must be completed first: otherwise the ledger would be permanently corrupt.
 */
function mayFollow({ pending }: LedgerState, size: number, note: string): boolean {
  return pending === null || (pending.size === size && pending.note === note);
}

/**
 * Returns the organizations that have already stamped the pending checkpoint. If a lowered quorum makes them
 * sufficient, none is excluded, and one more time stamp of any authority completes the checkpoint.
 */
function excludedBy({ pending }: LedgerState, quorum: number): readonly string[] {
  const organizations = pending?.tokens.map(({ organization }) => organization) ?? [];
  return organizations.length < quorum ? organizations : [];
}

/** Returns whether the checkpoint still needs this time stamp, since another process may have added others. */
function isMissing(state: LedgerState, size: number, { sha256, stamp }: ObtainedStamp, quorum: number): boolean {
  if (isStamped(state, size)) return false;
  const isKnown = state.pending?.tokens.some((token) => token.sha256 === sha256) ?? false;
  return !isKnown && !excludedBy(state, quorum).includes(stamp.organization);
}

export interface HandoverOptions extends Omit<StampingOptions, 'openNext'> {
  /**
   * The next keys. They must already be stored, so that no signature is made with keys that could be
   * lost.
   */
  readonly next: LedgerSigner;
  /** Reads the newest time stamp, which the new one must not precede. */
  readonly readNewest: () => Promise<StatedTime | null>;
  readonly now?: () => Date;
}

/**
 * Hands the ledger over from its keys to others (docs/evidence-format.md §8): announces the next keys in the stream
 * `policy`, seals the announcement, and stamps the first checkpoint over it, which all of the keys sign. A checkpoint
 * that too few authorities have stamped is completed first. The call may run concurrently with sealers and stampers,
 * and again after a crash at any point; completed steps are skipped.
 * @returns the ledger's state under the next keys
 * @throws LedgerKeyMismatch if the ledger uses keys other than the current or next ones
 * @throws TimestampUnavailable
 * @throws the errors of `announceLedgerKey`, `sealPolicyEvents` and `stampCheckpoint`
 */
export async function handOverLedger(options: HandoverOptions, signal: AbortSignal): Promise<FollowedLedger> {
  const { db, eventLog, signer, next, readNewest, now = () => new Date() } = options;
  let state = await catchUpLedger(db, eventLog);
  while (state.key !== verifierKeyOf(next)) {
    if (state.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(state.key, verifierKeyOf(signer));
    await announceLedgerKey(db, eventLog, [verifierKeyOf(next), mlDsaVerifierKeyOf(next)], now);
    state = await sealPolicyEvents(db, eventLog, now);
    const { authorities: quorum } = await readStampsDemanded(db, eventLog, options.quorum);
    const stamping = { ...options, quorum, openNext: async () => next };
    ({ state } = await stampCheckpoint(stamping, state, await readNewest(), signal));
  }
  return state;
}
