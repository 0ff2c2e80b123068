import pg from 'pg';
import type { ServerBinding } from '../../platform/database/server-binding.js';
import { RequestRefused } from '../../platform/errors.js';
import { admitGroup, type Submission, type SubmittedConsent } from './admit-group.js';
import { createGroupCommitter } from './group-committer.js';
import { type PromisedOutcome, type Promises, promiseOutcomes, withoutPromises } from './promises.js';

/** Sends submissions to the database in groups. Each group is one transaction. */
export interface Submitter {
  /**
   * @throws RequestRefused ADMISSION_UNAVAILABLE if the database does not respond. The outcome is
   *   then unknown; a retry with the same idempotency key returns it.
   * @throws RequestRefused QUEUE_OVERLOADED if too many submissions wait in this process
   * @throws pg.DatabaseError if the server rejected this submission itself
   */
  submit(submission: Submission): Promise<PromisedOutcome>;
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

/** Size of a submission, in bytes, above which its commit takes several times as long as that of a usual group. */
const SLOW_BYTES = 1_000_000;

const NO_OBSERVER: GroupObserver = { joins: () => undefined, around: (_submissions, send) => send() };

const RETRY_AFTER_SECONDS = 2;

export interface SubmitterOptions {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: pg.Pool;
  /** The server that must answer. If absent, any server may answer. */
  readonly server?: ServerBinding | undefined;
  readonly promises: Promises;
  readonly limits: GroupLimits;
  /** Receives failures of the database for the logger. */
  readonly onError: (error: unknown) => void;
  /** Receives failures of the signature. The response then has no promise. */
  readonly onUnsigned: (error: unknown) => void;
  readonly observer?: GroupObserver;
}

export function createSubmitter(options: SubmitterOptions): Submitter {
  const { db, server, promises, limits, onError, onUnsigned, observer = NO_OBSERVER } = options;
  // A group is limited by its consents and by its bytes. Both are scaled to one weight.
  const bytesPerConsent = limits.maxGroupBytes / limits.maxGroupConsents;
  const committer = createGroupCommitter<Submission, PromisedOutcome>({
    send: async (submissions) => {
      const outcomes = await observer.around(submissions, () => admitGroup(db, submissions, server));
      // The consents are durable now, so a failed signature must not turn the response into an error.
      try {
        return promiseOutcomes(promises, submissions, outcomes);
      } catch (error) {
        onUnsigned(error);
        return withoutPromises(outcomes);
      }
    },
    keysOf,
    weightOf: (submission) => weightOf(submission, bytesPerConsent),
    isSlow: (submission) => bytesOf(submission) > SLOW_BYTES,
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
  for (const consent of consents) weight += Math.max(1, bytesOfOne(consent) / bytesPerConsent);
  return weight;
}

function bytesOf({ consents }: Submission): number {
  let bytes = 0;
  for (const consent of consents) bytes += bytesOfOne(consent);
  return bytes;
}

function bytesOfOne({ prepared }: SubmittedConsent): number {
  let bytes = prepared?.body.length ?? 0;
  for (const { ciphertext } of prepared?.attachments ?? []) bytes += ciphertext.length;
  return bytes;
}

/**
 * SQLSTATE classes of failures that the data of one item can cause. The server rolled the statement back, so the other
 * items may be sent again individually. The classes: 22 data, 23 constraints, 40 serialization and deadlock, 42 access
 * rules, 44 check option, 54 program limits, P0 raised, XX internal.
 */
const ITEM_FAULT = /^(?:22|23|40|42|44|54|P0|XX)/;

/**
 * Returns whether one item of a group may have caused this failure. Returns false if the outcome is
 * unknown or the server itself failed.
 */
export function isItemFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && ITEM_FAULT.test(error.code);
}
