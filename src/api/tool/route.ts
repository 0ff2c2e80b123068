import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { SignedRequest } from '../../pipeline/admission/submission.js';
import type { ApiKey } from '../../tenancy/api-keys/api-keys.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { LoadGate } from '../guards/load-gate.js';
import type { ScannerGuard } from '../guards/scanner-guard.js';
import { checkSignature, checkSignatureHeaders } from '../guards/signature.js';
import type { Guard, ToolGuards } from '../guards/tool-guard.js';
import { callerOf, type ToolCaller } from '../server/caller.js';
import { validate } from '../server/json-body.js';
import type { Access, Operation } from '../server/operation.js';
import { bodyOf, paramsOf, registerOperation } from '../server/register-operation.js';

/** A request that passed the checks of its operation. */
export interface ToolCall<P, Q> {
  readonly caller: ToolCaller;
  readonly params: P;
  readonly query: Q;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Aborted once the service begins to stop. */
  readonly closing: AbortSignal;
}

/**
 * A request for what the public scanner serves without an API key: the site is that of the key, or
 * the one that the request names.
 */
export interface PublicCall<P, Q> extends Omit<ToolCall<P, Q>, 'caller'> {
  readonly site: SiteContext;
  /** Null: a request without a key. */
  readonly apiKey: ApiKey | null;
}

/**
 * A signed request whose signature matches. Its nonce is not yet used, and its body not yet parsed:
 * the handler does both, in this order.
 */
export interface SignedCall<P, Q, B> extends ToolCall<P, Q> {
  readonly signed: SignedRequest;
  /** @throws ApiError MALFORMED_JSON, VALIDATION_ERROR */
  readonly body: () => B;
}

export interface ServeToolOptions {
  readonly guards: ToolGuards;
  /** Bounds the signed requests in progress. */
  readonly gate: LoadGate;
  /** Checks requests without an API key; null: the service has no host for them. */
  readonly scanner: ScannerGuard | null;
  /** @returns Unix milliseconds */
  readonly clock: () => number;
}

/** A request that the framework has read, and the dependencies of its checks. */
interface ToolOptions extends ServeToolOptions {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly closing: AbortSignal;
}

/** An operation of the Tool API with its handler. */
export interface ToolRoute {
  readonly operation: Operation;
  /** Whether the public scanner serves it without an API key. */
  readonly isPublic: boolean;
  /** @returns the body of the response, or the reply if the handler sent it */
  answer(options: ToolOptions): Promise<unknown>;
  /** What a test key gets; null: nothing, it is refused. */
  readonly answerTest: ((options: ToolOptions) => Promise<unknown>) | null;
}

/**
 * A route without a signature.
 * @param handleTest answers test keys, about test objects alone; absent: they are refused
 */
export function reads<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: ToolCall<z.output<P>, z.output<Q>>) => Promise<z.input<R> | FastifyReply>,
  handleTest?: typeof handle,
): ToolRoute {
  return routeOf(operation, false, handle, handleTest, (input) => callOf(operation, input));
}

/** A route without a signature that the public scanner serves without an API key, too: it is about no record, and test keys get the same. */
export function readsPublicly<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: PublicCall<z.output<P>, z.output<Q>>) => Promise<z.input<R> | FastifyReply>,
): ToolRoute {
  return routeOf(operation, true, handle, handle, (input) => {
    const { scannedSite } = input.request;
    const { site, apiKey } = scannedSite === null ? callerOf(input.request) : { site: scannedSite, apiKey: null };
    return { ...partsOf(operation, input), site, apiKey };
  });
}

/**
 * A route whose requests are signed: the signature is checked before the handler runs.
 * @param handleTest as for `reads`
 */
export function writes<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (call: SignedCall<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R> | FastifyReply>,
  handleTest?: typeof handle,
): ToolRoute {
  return routeOf(operation, false, handle, handleTest, (input) => {
    const { request, guards } = input;
    const signed: SignedRequest = {
      nonce: checkSignature(request, input.clock()),
      caller: callerOf(request),
      authorize: (site) => guards.authorize(site, request),
    };
    return { ...callOf(operation, input), signed, body: () => bodyOf(operation, request) };
  });
}

function routeOf<Call>(
  operation: Operation,
  isPublic: boolean,
  handle: (call: Call) => Promise<unknown>,
  handleTest: typeof handle | undefined,
  callIn: (options: ToolOptions) => Call,
): ToolRoute {
  return {
    operation,
    isPublic,
    answer: async (input) => handle(callIn(input)),
    answerTest:
      handleTest === undefined
        ? null
        : async (input) => {
            const answer = await handleTest(callIn(input));
            return answer === input.reply || typeof answer !== 'object' ? answer : { ...answer, ...TEST_MARK };
          },
  };
}

/** The mark of every JSON object that a test key gets. */
const TEST_MARK = { test: true } as const;

/** The same, for a handler that sends its response itself. @param apiKey null: a request without a key */
export function testMarkOf(apiKey: Pick<ApiKey, 'mode'> | null): Partial<typeof TEST_MARK> {
  return apiKey?.mode === 'test' ? TEST_MARK : {};
}

/** Whose turn the reading of test records is: not the tenant's, whose own records would wait for it. */
export function testTurnsOf({ tenantId }: Pick<SiteContext, 'tenantId'>): string {
  return `test records of ${tenantId}`;
}

/**
 * Registers operations of the Tool API on a scope with the prefix /tool/v1. A request passes the
 * guard of its operation's access before the body is read; a signed one also the checks that need
 * only the signature's headers. Once the body has arrived, which can take a minute, the guard's
 * decision is repeated.
 */
export function serveTool(scope: FastifyInstance, routes: readonly ToolRoute[], options: ServeToolOptions): void {
  const { guards, clock, gate, scanner } = options;
  const closing = new AbortController();
  // Each response that lasts listens to it.
  setMaxListeners(0, closing.signal);
  scope.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  for (const { operation, isPublic, answer, answerTest } of routes) {
    const access = guardOf(guards, operation.access);
    const keyed = answerTest === null ? refusingTestKeys(access) : access;
    const guard = isPublic && scanner !== null ? orScanned(scanner, keyed) : keyed;
    const answerTo = (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      const input = { ...options, request, reply, closing: closing.signal };
      if (!isTestRequest(request)) return answer(input);
      if (answerTest === null) throw new ApiError('TEST_KEY_REFUSED');
      return answerTest(input);
    };
    registerOperation(
      scope,
      operation,
      operation.access.isSigned
        ? {
            onRequest: signed(guard, clock, gate),
            handler: (request, reply) =>
              gate.pass(async () => {
                await guards.reauthorize(request);
                return answerTo(request, reply);
              }),
          }
        : { onRequest: guard, handler: answerTo },
    );
  }
}

function callOf<P extends z.ZodObject, Q extends z.ZodObject>(
  operation: Operation<P, Q>,
  options: ToolOptions,
): ToolCall<z.output<P>, z.output<Q>> {
  return { caller: callerOf(options.request), ...partsOf(operation, options) };
}

function partsOf<P extends z.ZodObject, Q extends z.ZodObject>(
  operation: Operation<P, Q>,
  { request, reply, closing }: ToolOptions,
): Omit<ToolCall<z.output<P>, z.output<Q>>, 'caller'> {
  const query = validate(operation.query, request.query);
  return { query, params: paramsOf(operation, request), request, reply, closing };
}

function orScanned(scanner: ScannerGuard, keyed: Guard): Guard {
  return (request, reply) => (scanner.serves(request) ? scanner.guard(request, reply) : keyed(request, reply));
}

/** Whether the request came with a test key: one without a key did not. */
function isTestRequest({ caller }: FastifyRequest): boolean {
  return caller?.apiKey.mode === 'test';
}

function refusingTestKeys(guard: Guard): Guard {
  return async (request, reply) => {
    await guard(request, reply);
    if (isTestRequest(request)) throw new ApiError('TEST_KEY_REFUSED');
  };
}

function guardOf(guards: ToolGuards, { apiKey, roles, limit }: Access): Guard {
  if (limit === 'configuration') return guards.configuration;
  if (roles === null) return apiKey === 'write' ? guards.write : guards.read;
  return apiKey === 'write' ? guards.s2s : guards.s2sRead;
}

/**
 * Anyone can read the API key of a browser. A request with only a key, and without a signature,
 * must not make the service read megabytes. An overloaded process refuses before all other work,
 * which would delay its other answers.
 */
function signed(guard: Guard, clock: () => number, gate: LoadGate): Guard {
  return async (request, reply) => {
    await gate.pass(() => guard(request, reply));
    checkSignatureHeaders(request, clock());
  };
}
