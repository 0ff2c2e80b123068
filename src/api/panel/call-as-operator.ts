import type { Readable } from 'node:stream';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type pg from 'pg';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { BY_OPERATOR } from '../../accounts/mail/mail-queue.js';
import { withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import type { Operator } from '../server/caller.js';
import { keepRawBodies } from '../server/json-body.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import type { PanelDeps } from './deps.js';
import { answerPanel, appendEntry, type PanelRequest, type PanelRoute } from './serve-panel.js';

/** A call of an operation by an operator. */
export interface OperatorCall {
  readonly operator: Operator;
  /** Path and query, e.g. `/api/v1/sites?limit=100`. */
  readonly url: string;
  /** The body as JSON. Absent if there is none. */
  readonly body?: string | undefined;
}

/** A successful response. */
export interface OperatorAnswer {
  readonly body: Readable;
  /** Media type of the body. */
  readonly contentType: string;
}

/**
 * Calls an operation of the panel for an operator, without a server. Checks, handler, response and the audit-log entry
 * are the same as over HTTP.
 * @param adminPool connections in the role `consent_ledger_admin`
 * @throws the errors of the handler; RequestRefused with the invalid fields in its message
 */
export async function callAsOperator(
  route: PanelRoute,
  deps: PanelDeps,
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
  const asOperator = (request: FastifyRequest, reply: FastifyReply): PanelRequest => ({
    check: async () => ({
      ...parsedParts(route, request),
      user: operator,
      mailCause: BY_OPERATOR,
      gone: new AbortController().signal,
      reply,
    }),
    change: (work) =>
      withTransaction(adminPool, async (db) => {
        const { response, subject, details } = await work(db, operator);
        await appendEntry(db, route, operator, subject, details);
        return response;
      }),
    disclose: async ({ response, subject, details }) => {
      await appendEntry(adminPool, route, operator, subject, details);
      return response;
    },
  });
  registerOperation(app, route, {
    handler: (request, reply) => answerPanel(route, asOperator(request, reply), deps),
  });
  const response = await app.inject({
    method: METHODS[route.method],
    url,
    payloadAsStream: true,
    ...(body !== undefined && { payload: body, headers: { 'content-type': 'application/json' } }),
  });
  if (failure !== null) throw withFields(failure);
  return { body: response.stream(), contentType: String(response.headers['content-type']) };
}

/** Adds the invalid fields to the message, because the command line shows only the message. */
function withFields(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.details.errors === undefined) return failure;
  const fields = failure.details.errors.map(({ field, message }) => `  ${field}: ${message}`);
  return new RequestRefused(failure.code, [failure.message, ...fields].join('\n'));
}

const MAX_URL_PART = 500;
const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;
