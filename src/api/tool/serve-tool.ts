import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { ApiKey } from '../../tenancy/api-keys/api-keys.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { LoadGate } from '../guards/load-gate.js';
import type { ScannerGuard } from '../guards/scanner-guard.js';
import { checkSignature, checkSignatureHeaders } from '../guards/signature.js';
import type { Guard, ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { validate } from '../server/json-body.js';
import type { Access, Operation } from '../server/operation.js';
import { bodyOf, paramsOf, registerOperation } from '../server/register-operation.js';
import type { Route } from '../server/route.js';

/** An operation of the Tool API. */
export type ToolRoute<D> = Route<'site' | 'tool' | 'signed', D>;

export interface ServeToolOptions {
  readonly guards: ToolGuards;
  /** Limits the signed requests in progress. */
  readonly gate: LoadGate;
  /** Checks requests without an API key, or null if the service has no host for them. */
  readonly scanner: ScannerGuard | null;
  /** @returns Unix milliseconds */
  readonly clock: () => number;
}

/** A request that the framework has read, and the dependencies of its checks. */
interface ToolRequest extends ServeToolOptions {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly closing: AbortSignal;
}

/**
 * Registers operations of the Tool API on a scope with the prefix /tool/v1. A request passes the guard of its
 * operation's access before the body is read; a signed request also passes the checks that only need the signature's
 * headers. Once the body has arrived, which can take a minute, the guard's decision is repeated.
 * @param deps dependencies of the handlers
 */
export function serveTool<D>(
  scope: FastifyInstance,
  routes: readonly ToolRoute<D>[],
  deps: D,
  options: ServeToolOptions,
): void {
  const { guards, clock, gate, scanner } = options;
  const closing = new AbortController();
  // Every long-running response listens to it.
  setMaxListeners(0, closing.signal);
  scope.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  for (const route of routes) {
    const access = guardOf(guards, route.access);
    const keyed = isForTestKeys(route) ? access : refusingTestKeys(access);
    const guard = route.auth === 'site' && scanner !== null ? orScanned(scanner, keyed) : keyed;
    const answer = (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
      answerTool(route, { ...options, request, reply, closing: closing.signal }, deps);
    registerOperation(
      scope,
      route,
      route.access.isSigned
        ? {
            onRequest: signed(guard, clock, gate),
            handler: (request, reply) =>
              gate.pass(async () => {
                await guards.reauthorize(request);
                return answer(request, reply);
              }),
          }
        : { onRequest: guard, handler: answer },
    );
  }
}

/** @returns the body of the response, or the reply if the handler sent it */
async function answerTool<D>(route: ToolRoute<D>, input: ToolRequest, deps: D): Promise<unknown> {
  const { request, reply } = input;
  if (!isTestRequest(request)) return handled(route, input, deps);
  const answer = await handled(route, input, deps);
  return answer === reply || typeof answer !== 'object' ? answer : { ...answer, ...TEST_MARK };
}

async function handled<D>(route: ToolRoute<D>, input: ToolRequest, deps: D): Promise<unknown> {
  const { request, guards, clock } = input;
  switch (route.auth) {
    case 'site': {
      const { scannedSite } = request;
      const { site, apiKey } = scannedSite === null ? callerOf(request) : { site: scannedSite, apiKey: null };
      return route.handle({ ...partsOf(route, input), site, apiKey }, deps);
    }
    case 'tool': {
      const call = { caller: callerOf(request), ...partsOf(route, input) };
      return chosen(route, request)(call, deps);
    }
    case 'signed': {
      const caller = callerOf(request);
      const signed = {
        nonce: checkSignature(request, clock()),
        caller,
        authorize: (site: SiteContext) => guards.authorize(site, request),
      };
      const call = { caller, ...partsOf(route, input), signed, body: () => bodyOf(route, request) };
      return chosen(route, request)(call, deps);
    }
  }
}

/** The handler for the kind of a request's API key. @throws ApiError TEST_KEY_REFUSED */
function chosen<H>(route: { readonly handle: H; readonly handleTest?: H }, request: FastifyRequest): H {
  if (!isTestRequest(request)) return route.handle;
  if (route.handleTest === undefined) throw new ApiError('TEST_KEY_REFUSED');
  return route.handleTest;
}

function isForTestKeys<D>(route: ToolRoute<D>): boolean {
  return route.auth === 'site' || route.handleTest !== undefined;
}

/** The mark of every JSON object that a test key gets. */
const TEST_MARK = { test: true } as const;

/** Returns the mark for a handler that sends its response itself. @param apiKey null for a request without a key */
export function testMarkOf(apiKey: Pick<ApiKey, 'mode'> | null): Partial<typeof TEST_MARK> {
  return apiKey?.mode === 'test' ? TEST_MARK : {};
}

/**
 * Returns the owner of the turns in which test records are read. It is not the tenant itself, whose live records would
 * have to wait.
 */
export function testTurnsOf({ tenantId }: Pick<SiteContext, 'tenantId'>): string {
  return `test records of ${tenantId}`;
}

function partsOf(operation: Operation, { request, reply, closing }: ToolRequest) {
  const query = validate(operation.query, request.query);
  return { query, params: paramsOf(operation, request), request, reply, closing };
}

function orScanned(scanner: ScannerGuard, keyed: Guard): Guard {
  return (request, reply) => (scanner.serves(request) ? scanner.guard(request, reply) : keyed(request, reply));
}

/** Returns whether the request has a test key. */
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
 * Returns the guard of signed operations. Anyone can read the API key of a browser, so a request without a signature
 * must not make the service read megabytes. An overloaded process refuses before any other work, which would delay its
 * other responses.
 */
function signed(guard: Guard, clock: () => number, gate: LoadGate): Guard {
  return async (request, reply) => {
    await gate.pass(() => guard(request, reply));
    checkSignatureHeaders(request, clock());
  };
}
