import type pg from 'pg';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import { admitGroup, type Submission, type SubmissionOutcome } from './admit-group.js';
import { isItemFault } from './database-failure.js';
import { createGroupCommitter } from './group-committer.js';

/** Sends submissions to the database in groups. Each group is one transaction. */
export interface Submitter {
  /**
   * @throws RequestRefused ADMISSION_UNAVAILABLE if the database does not respond. The outcome is
   *   then unknown; a retry with the same idempotency key returns it.
   * @throws RequestRefused QUEUE_OVERLOADED if too many submissions wait in this process
   * @throws pg.DatabaseError if the server rejected this submission itself
   */
  submit(submission: Submission): Promise<SubmissionOutcome>;
  drain(): Promise<void>;
}

export interface GroupLimits {
  readonly maxGroupConsents: number;
  readonly maxGroupBytes: number;
  readonly maxInFlight: number;
  readonly maxWaiting: number;
}

export const DEFAULT_GROUP_LIMITS: GroupLimits = {
  maxGroupConsents: 128,
  maxGroupBytes: 4_000_000,
  maxInFlight: 2,
  maxWaiting: 5_000,
};

/** Observes submissions and their groups, for metrics and traces. */
export interface GroupObserver {
  /** Called when a submission begins to wait for its group. */
  joins(submission: Submission): void;
  /** Calls `send` exactly once; `send` transmits the group. */
  around<T>(submissions: readonly Submission[], send: () => Promise<T>): Promise<T>;
}

const NO_OBSERVER: GroupObserver = { joins: () => undefined, around: (_submissions, send) => send() };

const RETRY_AFTER_SECONDS = 2;

export function createSubmitter(
  db: pg.Pool,
  limits: GroupLimits,
  onError: (error: unknown) => void,
  observer: GroupObserver = NO_OBSERVER,
): Submitter {
  // A group is limited by its consents and by its bytes. Both are scaled to one weight.
  const bytesPerConsent = limits.maxGroupBytes / limits.maxGroupConsents;
  const committer = createGroupCommitter<Submission, SubmissionOutcome>({
    send: (submissions) => observer.around(submissions, () => admitGroup(db, submissions)),
    keysOf,
    weightOf: (submission) => weightOf(submission, bytesPerConsent),
    maxItems: limits.maxGroupConsents,
    maxWeight: limits.maxGroupConsents,
    maxInFlight: limits.maxInFlight,
    maxWaiting: limits.maxWaiting,
    overloaded: () => new RequestRefused('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    isItemFault,
  });
  return {
    submit: async (submission) => {
      observer.joins(submission);
      try {
        return await committer.submit(submission);
      } catch (error) {
        if (error instanceof RequestRefused || isItemFault(error)) throw error;
        onError(error);
        throw new RequestRefused('ADMISSION_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
    },
    drain: () => committer.drain(),
  };
}

function keysOf({ nonce, consents }: Submission): readonly string[] {
  const keys = nonce === null ? [] : [`n${nonce.toString('latin1')}`];
  for (const { idempotency } of consents) if (idempotency !== null) keys.push(`i${idempotency.toString('latin1')}`);
  return keys;
}

function weightOf({ consents }: Submission, bytesPerConsent: number): number {
  let weight = 0.1;
  for (const { prepared } of consents) {
    let bytes = prepared?.body.length ?? 0;
    for (const { ciphertext } of prepared?.attachments ?? []) bytes += ciphertext.length;
    weight += Math.max(1, bytes / bytesPerConsent);
  }
  return weight;
}
