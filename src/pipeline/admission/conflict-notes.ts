import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';

/** An idempotency key that was used again with another body. */
export interface IdempotencyConflict {
  readonly siteId: string;
  readonly apiKeyId: string;
  /** The record that the first request became. */
  readonly eventId: string;
}

/** Collects conflicts of idempotency keys for the panel and webhooks. */
export interface ConflictNotes {
  /** Counts a conflict. It is stored after the answer to the caller. */
  note(conflict: IdempotencyConflict): void;
  /** Resolves when all that was noted is stored. */
  drain(): Promise<void>;
}

export interface ConflictNotesOptions {
  /** In the role `consent_ledger_api`. */
  readonly db: Queryable;
  /** Receives database failures for the logger. What was noted is then lost: the callers got their warnings. */
  readonly onError: (error: unknown) => void;
}

/** A caller that conflicts at any rate costs one statement in this time, in milliseconds. */
const PAUSE_MS = 1_000;
/** Records of one statement. Further ones are not counted until it is done. */
const MAX_PENDING = 10_000;
/** Records of one API key in it: the table keeps no more. Without this limit, one caller would hide the others. */
const MAX_PENDING_OF_KEY = 100;

interface Counted {
  readonly api_key_id: string;
  readonly event_id: string;
  readonly site_id: string;
  times: number;
}

/** Creates the notes of one process. A process that is killed loses those of the last second. */
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
