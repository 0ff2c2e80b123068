import type { Readable } from 'node:stream';
import fastify from 'fastify';
import type pg from 'pg';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { BY_OPERATOR } from '../../accounts/mail/mail-queue.js';
import { withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { keepRawBodies, validate } from '../server/json-body.js';
import { bodyOf, paramsOf, registerOperation } from '../server/register-operation.js';
import { appendEntry } from './append-entry.js';
import type { Operator } from './caller.js';
import type { PanelRoute } from './route.js';

/** A call of an operation by an operator. */
export interface OperatorCall {
  readonly operator: Operator;
  /** Path and query, e.g. `/api/v1/sites?limit=100`. */
  readonly url: string;
  /** The body as JSON; absent: none. */
  readonly body?: string | undefined;
}

/** A successful response. */
export interface OperatorAnswer {
  readonly body: Readable;
  /** Media type of the body. */
  readonly contentType: string;
}

/**
 * Calls an operation of the panel for an operator, without a server: checks, handler, response and
 * the entry of the audit log are those of the HTTP API.
 * @param adminPool connections in the role `consent_ledger_admin`
 * @throws the errors of the handler; RequestRefused with the invalid fields in its message
 */
export async function callAsOperator(
  { operation, answer }: PanelRoute,
  adminPool: pg.Pool,
  { operator, url, body }: OperatorCall,
): Promise<OperatorAnswer> {
  let failure: unknown = null;
  const app = fastify({ logger: false, routerOptions: { maxParamLength: MAX_URL_PART } });
  keepRawBodies(app);
  app.setErrorHandler((error, _request, reply) => {
    failure = error;
    return reply.code(500).send();
  });
  registerOperation(app, operation, {
    handler: (request, reply) =>
      answer({
        reply,
        check: async (checked) => ({
          user: operator,
          params: paramsOf(checked, request),
          query: validate(checked.query, request.query),
          body: bodyOf(checked, request),
          mailCause: BY_OPERATOR,
          gone: new AbortController().signal,
        }),
        change: (work) =>
          withTransaction(adminPool, async (db) => {
            const { response, subject, details } = await work(db, operator);
            await appendEntry(db, operation, operator, subject, details);
            return response;
          }),
        disclose: async ({ response, subject, details }) => {
          await appendEntry(adminPool, operation, operator, subject, details);
          return response;
        },
      }),
  });
  const response = await app.inject({
    method: METHODS[operation.method],
    url,
    payloadAsStream: true,
    ...(body !== undefined && { payload: body, headers: { 'content-type': 'application/json' } }),
  });
  if (failure !== null) throw withFields(failure);
  return { body: response.stream(), contentType: String(response.headers['content-type']) };
}

/** The command line shows the message alone. */
function withFields(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.details.errors === undefined) return failure;
  const fields = failure.details.errors.map(({ field, message }) => `  ${field}: ${message}`);
  return new RequestRefused(failure.code, [failure.message, ...fields].join('\n'));
}

const MAX_URL_PART = 500;
const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;
