import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { parseJsonBody, validate } from './json-body.js';
import type { Operation } from './operation.js';

/** The processing of a family of operations. */
export interface OperationHandlers {
  /** Checks that need only the headers: they run before the body is read. */
  readonly onRequest?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Handles the request. @returns the body of the response, or the reply if it was already sent */
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
}

/**
 * Registers an operation: its method, its path below the prefix of the scope, its body limit and
 * the status of its response.
 * @throws Error if the path is outside the prefix
 */
export function registerOperation(
  scope: FastifyInstance,
  operation: Operation,
  { onRequest, handler }: OperationHandlers,
): void {
  const { path, method, bodyLimit, status } = operation;
  if (!path.startsWith(`${scope.prefix}/`)) throw new Error(`${path} is outside the prefix ${scope.prefix}`);
  scope.route({
    method: method.toUpperCase(),
    url: routeOf(path.slice(scope.prefix.length), operation),
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(!answersHead(operation) && { exposeHeadRoute: false }),
    ...(onRequest !== undefined && { onRequest }),
    handler: async (request, reply) => {
      const answer = await handler(request, reply);
      return answer === reply ? reply : reply.code(status).send(answer);
    },
  });
}

function routeOf(path: string, { isLastSlashed }: Operation): string {
  const ended = isLastSlashed === true ? path.replace(/\{\w+\}$/, '*') : path;
  return ended.replace(/\{(\w+)\}/g, ':$1');
}

/**
 * Returns whether an operation answers HEAD. Downloads and backend reads disclose personal values and write audit
 * entries; a HEAD request would write an entry without disclosing anything.
 */
function answersHead({ download, access }: Operation): boolean {
  return access.roles === null || (download === undefined && access.apiKey === null);
}

/**
 * Parses the path parameters, the query and the body of a request, in this order.
 * @throws ApiError as `paramsOf` and `bodyOf`, VALIDATION_ERROR
 */
export function parsedParts(operation: Operation, request: FastifyRequest) {
  return {
    params: paramsOf(operation, request),
    query: validate(operation.query, request.query),
    body: bodyOf(operation, request),
  };
}

/**
 * The path parameters of a request.
 * @throws ApiError `invalidParams` of the operation, or VALIDATION_ERROR
 */
export function paramsOf({ params, invalidParams, path }: Operation, request: FastifyRequest): unknown {
  const given = named(path, request.params);
  if (invalidParams === undefined) return validate(params, given);
  const parsed = params.safeParse(given);
  if (!parsed.success) throw new ApiError(invalidParams);
  return parsed.data;
}

/** The router calls a parameter with slashes `*`. */
function named(path: string, params: unknown): unknown {
  const [, last] = /\{(\w+)\}$/.exec(path) ?? [];
  if (last === undefined || typeof params !== 'object' || params === null || !('*' in params)) return params;
  const { '*': rest, ...others } = params;
  return { ...others, [last]: rest };
}

/**
 * Parses the body of a request, or undefined if there is none and the schema permits that.
 * @throws ApiError MALFORMED_JSON, VALIDATION_ERROR
 */
export function bodyOf({ body }: Operation, { rawBody }: FastifyRequest): unknown {
  const isLeftOut = rawBody.length === 0 && body.safeParse(undefined).success;
  return validate(body, isLeftOut ? undefined : parseJsonBody(rawBody));
}
