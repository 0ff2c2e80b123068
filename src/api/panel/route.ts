import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { SignedInUser } from '../../accounts/users/user-directory.js';
import type { AuditSubject } from '../../platform/audit-log/entry.js';
import type { Database } from '../../platform/database/pool.js';
import type { PanelOperation } from './operation.js';

/** A request that has passed every check of its operation. */
export interface PanelCall<P, Q, B> {
  readonly user: SignedInUser;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** What came in, before the operation's schemas have seen it. */
export interface PanelInput {
  /** Judges the user again, and then what was sent. @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, VALIDATION_ERROR, MALFORMED_JSON, SITE_NOT_FOUND */
  check<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
    operation: PanelOperation<P, Q, B>,
  ): Promise<PanelCall<z.output<P>, z.output<Q>, z.output<B>>>;
  /**
   * Runs a change, and writes its line of the audit log, in one transaction.
   * @param work is given the user as it stands in the transaction
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
   */
  change<T>(work: (transaction: Database, user: SignedInUser) => Promise<Change<T>>): Promise<T>;
  readonly reply: FastifyReply;
}

/** What a change did: the answer, and what the audit log says of it. */
export interface Change<R> {
  readonly response: R;
  readonly subject: AuditSubject;
  /** Names of members, numbers, states; never a secret, nor a datum of a data subject. */
  readonly details?: JsonObject;
}

/** An operation with what it does. */
export interface PanelRoute {
  readonly operation: PanelOperation;
  /** @returns the body of the answer; undefined if it was sent already */
  answer(input: PanelInput): Promise<unknown>;
}

/** A route that changes nothing. */
export function reads<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: PanelOperation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R>>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => operation.response.parse(await handle(await input.check(operation))),
  };
}

/**
 * A route that changes something, within a transaction in the role `consent_ledger_admin`. The line of the audit log is written in it too, and it is
 * committed before the answer is sent.
 */
export function changes<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: PanelOperation<P, Q, B, R>,
  handle: (
    call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>,
    transaction: Database,
  ) => Promise<Change<z.input<R>>>,
): PanelRoute {
  return changesAfter(
    operation,
    async () => undefined,
    (call, _, transaction) => handle(call, transaction),
  );
}

/** A change that needs something before its transaction begins, like an answer from the network: no connection waits for it. */
export function changesAfter<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  Prepared,
>(
  operation: PanelOperation<P, Q, B, R>,
  prepare: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Prepared>,
  handle: (
    call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>,
    prepared: Prepared,
    transaction: Database,
  ) => Promise<Change<z.input<R>>>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => {
      const call = await input.check(operation);
      const prepared = await prepare(call);
      return operation.response.parse(
        await input.change((transaction, user) => handle({ ...call, user }, prepared, transaction)),
      );
    },
  };
}

/** A route whose answer is not JSON: the handler sends it. */
export function downloads<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: PanelOperation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>, reply: FastifyReply) => Promise<void>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => handle(await input.check(operation), input.reply),
  };
}
