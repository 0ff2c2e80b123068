import type { FastifyReply } from 'fastify';
import type * as z from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { MailCause } from '../../accounts/mail/mail-queue.js';
import type { AuditSubject } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Operation } from '../server/operation.js';
import { preparedDocument } from '../server/send-document.js';
import { StaticText } from '../server/static-text.js';
import type { Caller } from './caller.js';

/** A request that passed every check of its operation. */
export interface PanelCall<P, Q, B> {
  readonly user: Caller;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Language and network for the mails that the request causes. */
  readonly mailCause: MailCause;
  /** Aborted when the client has left: what only reads ends then. */
  readonly gone: AbortSignal;
}

/** A request before its parameters and its body are checked. */
export interface PanelRequest {
  /**
   * Reauthorizes the user, and then checks path, query and body with the schemas of the operation.
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, VALIDATION_ERROR, MALFORMED_JSON,
   *   SITE_NOT_FOUND
   */
  check<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
    operation: Operation<P, Q, B>,
  ): Promise<PanelCall<z.output<P>, z.output<Q>, z.output<B>>>;
  /**
   * Runs a change and writes its entry of the audit log, in one transaction.
   * @param work receives the user as read within the transaction
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
   */
  change<T>(work: (db: Queryable, user: Caller) => Promise<Recorded<T>>): Promise<T>;
  /**
   * Writes the audit entry of a disclosure, in a transaction of its own. The user is reauthorized
   * first, because the disclosure may have taken seconds.
   * @returns the response, which may be sent from then on
   * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE, SERVICE_UNAVAILABLE if the entry
   *   cannot be written
   */
  disclose<T>(disclosure: Recorded<T>): Promise<T>;
  readonly reply: FastifyReply;
}

/** A response, and the entry of the audit log that goes with it. */
export interface Recorded<R> {
  readonly response: R;
  readonly subject: AuditSubject;
  /** Names of members, numbers and states; never a secret, and never a value of a data subject. */
  readonly details?: JsonObject;
}

/** An operation with its handler. */
export interface PanelRoute {
  readonly operation: Operation;
  /** @returns the body of the response, or the reply if the handler sent it */
  answer(options: PanelRequest): Promise<unknown>;
}

/** A route that changes nothing, and writes no audit entry. */
export function reads<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R>>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => operation.response.parse(await handle(await input.check(operation))),
  };
}

/**
 * As `reads`, with a compressed response where the client accepts one. Only for responses without a
 * secret and without text that others chose: compressed together, the length of a response tells
 * how much of a guessed text is in the secret (BREACH).
 */
export function readsCompressed<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R>>,
): PanelRoute {
  const { answer } = reads(operation, handle);
  return {
    operation,
    answer: async (input) => {
      const body = JSON.stringify(await answer(input));
      const text = new StaticText(preparedDocument('application/json; charset=utf-8', body, {}));
      return text.send(input.reply.request, input.reply);
    },
  };
}

/**
 * A route that changes nothing, and whose audit entry is committed before the response is sent:
 * without the entry, nothing is disclosed. It reads outside any transaction, so it blocks no change
 * however long it takes.
 */
export function discloses<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Recorded<z.input<R>>>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => {
      const { response, ...entry } = await handle(await input.check(operation));
      return input.disclose({ response: operation.response.parse(response), ...entry });
    },
  };
}

/**
 * A route that changes something, within a transaction in the role `consent_ledger_admin`. Its
 * audit entry is written in the same transaction, which is committed before the response is sent.
 */
export function changes<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>, db: Queryable) => Promise<Recorded<z.input<R>>>,
): PanelRoute {
  return changesAfter(
    operation,
    async () => undefined,
    (call, _, db) => handle(call, db),
  );
}

/**
 * A change that needs something before its transaction begins, such as a DNS response: no
 * connection waits for it.
 */
export function changesAfter<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
  Prepared,
>(
  operation: Operation<P, Q, B, R>,
  prepare: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Prepared>,
  handle: (
    call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>,
    prepared: Prepared,
    db: Queryable,
  ) => Promise<Recorded<z.input<R>>>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => {
      const call = await input.check(operation);
      const prepared = await prepare(call);
      return operation.response.parse(await input.change((db, user) => handle({ ...call, user }, prepared, db)));
    },
  };
}

/** A route whose response is not JSON: the handler sends it. */
export function downloads<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PanelCall<z.output<P>, z.output<Q>, z.output<B>>, reply: FastifyReply) => Promise<void>,
): PanelRoute {
  return {
    operation,
    answer: async (input) => {
      await handle(await input.check(operation), input.reply);
      return input.reply;
    },
  };
}
