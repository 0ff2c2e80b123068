import { toHex } from '../../../schemas/crypto/encoding.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RevisionConflict } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { catchUpLedger } from './apply-ledger.js';
import { LedgerHeadMissing, LedgerRolledBack } from './errors.js';
import type { LedgerHead, LedgerHeadFile } from './head-file.js';
import { type FollowedLedger, type LedgerState, readLedgerRoot, readLedgerState, rootOf } from './ledger-state.js';

/**
 * The ledger head that this process has seen. It outlives connections, so that a database that went back in time is
 * noticed.
 */
export interface LedgerMemory {
  head: LedgerHead | null;
}

/** Guards everything that continues or signs the ledger. */
export interface LedgerGuard {
  /**
   * Compares the ledger in the database with every head that is known: the one in the file, and the
   * one that this process has seen. Remembers a larger one in both.
   * @throws LedgerRolledBack, LedgerHeadMissing, LedgerHeadUnreadable; the errors of `catchUpLedger`; errors
   *   of the database and of the file system
   */
  check(): Promise<void>;
  /** Compares like `check`, but remembers nothing. @throws as `check` */
  compare(): Promise<void>;
  /**
   * Checks before an append to `ledger`. A log that went back in time would accept another event at a revision that it
   * lost but that the tables have.
   * @param expectedRevision expected revision of the append
   * @throws RevisionConflict if the tables have later events of the ledger than that; as `check`
   */
  checkAppend(expectedRevision: number): Promise<void>;
}

export interface LedgerGuardOptions {
  readonly db: Queryable;
  /** Null if this process has no access to it. */
  readonly file: LedgerHeadFile | null;
  readonly memory: LedgerMemory;
  /**
   * The log, for a process that signs. What such a process remembers comes from the log, so that a table that was wrong
   * for a moment is not remembered forever. Only such a process writes the file. Null if the process does not sign and
   * does not depend on the log.
   */
  readonly eventLog: EventLog | null;
  /** Called when the ledger does not continue a known head. */
  readonly onRolledBack?: (error: LedgerRolledBack) => void;
}

/** Creates the guard of one ledger. */
export function createLedgerGuard(options: LedgerGuardOptions): LedgerGuard {
  const { db, file, memory, eventLog, onRolledBack } = options;
  const keeps = eventLog === null ? null : file;
  let followed: FollowedLedger | null = null;
  const compareWith = async (stored: LedgerHead | null): Promise<LedgerState> => {
    // Read after the heads: if the ledger grows meanwhile, it still contains them.
    const known = [stored, memory.head];
    const state = await readLedgerState(db);
    for (const [place, head] of known.entries()) {
      if (head === null || (await continues(db, state, head))) continue;
      const source = place === 0 && file !== null ? file.path : 'the memory of this process';
      const error = new LedgerRolledBack(head.size, state.size, source);
      onRolledBack?.(error);
      throw error;
    }
    if (keeps !== null && stored === null && memory.head === null && state.size > 0) {
      throw new LedgerHeadMissing(state.size, keeps.path);
    }
    return state;
  };
  const headAt = async (state: LedgerState): Promise<LedgerHead> => {
    if (eventLog === null) return headOf(state, await readLedgerRoot(db, state.size));
    let at = followed;
    // Followed no further than the tables, because the part that follows the ledger reports an event that cannot be
    // applied.
    if (at === null || at.revision < state.revision) {
      at = await catchUpLedger(db, eventLog, { from: at, last: state.revision });
      followed = at;
    }
    return headOf(at, rootOf(at.tree));
  };
  const check = async (): Promise<LedgerState> => {
    const stored = (await file?.read()) ?? null;
    const state = await compareWith(stored);
    if (keeps !== null && (stored === null || stored.size < state.size)) {
      await keeps.replace(async (now) => {
        const head = await headAt(await compareWith(now));
        memory.head = head;
        return head;
      });
    } else if (memory.head === null || memory.head.size < state.size) memory.head = await headAt(state);
    return state;
  };
  return {
    compare: async () => {
      await compareWith((await file?.read()) ?? null);
    },
    check: async () => {
      await check();
    },
    checkAppend: async (expectedRevision) => {
      const { revision } = await check();
      if (revision > expectedRevision) throw new RevisionConflict(LEDGER_STREAM, expectedRevision, revision);
    },
  };
}

/**
 * Returns the log for everything that continues the ledger: each append to `ledger` asks the guard
 * first. No part can append without this check.
 * `append` to `ledger` also throws the errors of `LedgerGuard.checkAppend`.
 */
export function guardLedgerAppends(inner: EventLog, guard: LedgerGuard): EventLog {
  const isLedger = ({ stream }: { readonly stream: string }): boolean => stream === LEDGER_STREAM;
  return {
    kind: inner.kind,
    maxAppendBytes: inner.maxAppendBytes,
    append: async (stream, expectedRevision, events) => {
      if (isLedger({ stream })) await guard.checkAppend(expectedRevision);
      return inner.append(stream, expectedRevision, events);
    },
    appendAll: async (appends) => {
      for (const { expectedRevision } of appends.filter(isLedger)) await guard.checkAppend(expectedRevision);
      return inner.appendAll(appends);
    },
    readStream: (stream, fromRevision, limit) => inner.readStream(stream, fromRevision, limit),
    readEvents: (places) => inner.readEvents(places),
    lastRevision: (stream) => inner.lastRevision(stream),
    lastRevisions: (streams) => inner.lastRevisions(streams),
    firstRevisions: (streams) => inner.firstRevisions(streams),
    readAll: (after, limit) => inner.readAll(after, limit),
    subscribe: (after, signal) => inner.subscribe(after, signal),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
}

/** Returns whether the ledger in the tables contains a head. */
export async function continues(db: Queryable, state: LedgerState, head: LedgerHead): Promise<boolean> {
  return state.size >= head.size && toHex(await readLedgerRoot(db, head.size)) === head.root;
}

/** The head of the ledger. @param root root of the ledger tree, 32 bytes */
export function headOf({ size, revision, key }: LedgerState, root: Uint8Array): LedgerHead {
  return { v: 1, size, root: toHex(root), revision, key, written_at: new Date().toISOString() };
}
