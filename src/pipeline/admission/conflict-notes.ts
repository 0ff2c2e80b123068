import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';

/** An idempotency key that was reused with a different body. */
export interface IdempotencyConflict {
  readonly siteId: string;
  readonly apiKeyId: string;
  /** The record that the first request became. */
  readonly eventId: string;
}

/** Collects conflicts of idempotency keys for the panel and webhooks. */
export interface ConflictNotes {
  /** Notes a conflict, which is stored after the response to the caller. */
  note(conflict: IdempotencyConflict): void;
  /** Resolves when everything noted so far is stored. */
  drain(): Promise<void>;
}

export interface ConflictNotesOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  /**
   * Receives database failures for the logger. The notes are then lost, but the callers have received their warnings.
   */
  readonly onError: (error: unknown) => void;
}

/** Time between two statements, in milliseconds, regardless of the number of conflicts. */
const PAUSE_MS = 1_000;
/** Maximum number of records per statement. Further records are not counted until the statement is done. */
const MAX_PENDING = 10_000;
/**
 * Maximum number of records per API key in a statement, as in the table. Without it, one caller would hide the
 * conflicts of others.
 */
const MAX_PENDING_OF_KEY = 100;

interface Counted {
  readonly api_key_id: string;
  readonly event_id: string;
  readonly site_id: string;
  times: number;
}

/** Creates the notes of one process. If the process is killed, those of the last second are lost. */
export function createConflictNotes({ db, onError }: ConflictNotesOptions): ConflictNotes {
  let pending = new Map<string, Map<string, Counted>>();
  let records = 0;
  let writing: Promise<void> | null = null;
  let drained = new AbortController();

  const write = async (): Promise<void> => {
    while (pending.size > 0) {
      const taken = [...pending.values()].flatMap((ofKey) => [...ofKey.values()]);
      pending = new Map();
      records = 0;
      await db.query('select note_idempotency_conflicts($1)', [JSON.stringify(taken)]).catch(onError);
      await pause(PAUSE_MS, drained.signal);
    }
    writing = null;
  };

  return {
    note: ({ siteId, apiKeyId, eventId }) => {
      const ofKey = pending.get(apiKeyId) ?? new Map<string, Counted>();
      const known = ofKey.get(eventId);
      if (known !== undefined) known.times += 1;
      else if (ofKey.size < MAX_PENDING_OF_KEY && records < MAX_PENDING) {
        ofKey.set(eventId, { api_key_id: apiKeyId, event_id: eventId, site_id: siteId, times: 1 });
        pending.set(apiKeyId, ofKey);
        records += 1;
      }
      writing ??= write();
    },
    drain: async () => {
      drained.abort();
      await writing;
      drained = new AbortController();
    },
  };
}
