import { randomBytes } from 'node:crypto';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { countedClient, countedNetwork, createClientAddresses } from '../../platform/net/client-address.js';
import { boundBodies } from './bound-bodies.js';
import { boundForms, originForm, refusedForm } from './bound-forms.js';
import { Connections } from './connections.js';
import { type DrainOptions, drainOnClose } from './drain.js';
import { answerClientError, apiErrorOf, sendError } from './error-response.js';
import { keepRawBodies } from './json-body.js';
import { sendMissingPage, wantsPage } from './missing-page.js';
import { failureOf, logRequests, OVERLOADED } from './request-log.js';
import { collectRoutes, refuseTrailingSlashes } from './unknown-routes.js';
import './caller.js';

export interface AppOptions {
  readonly log: Logger;
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-* headers are trusted. Empty if there are none. */
  readonly trustedProxies: readonly string[];
  /** Length in bits of the IPv6 prefix that limits by address treat as one client. */
  readonly ipv6ClientPrefix?: number;
  /** A host name that serves only /tool/v1. */
  readonly scannerHost?: string | undefined;
  readonly drain?: DrainOptions;
}

/** A group of routes. It registers the routes, with their prefix and hooks, on the given scope. */
export type RouteGroup = (scope: FastifyInstance) => void | Promise<void>;

/** Largest body, in bytes, of a route without a limit of its own. */
const DEFAULT_BODY_LIMIT = 64 * 1024;
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_URL_PART = 500;
const DEFAULT_IPV6_CLIENT_PREFIX = 64;
const DEFAULT_DRAIN: DrainOptions = { lameDuckMs: () => 0, graceMs: 10_000 };

/**
 * Creates the HTTP application with its hooks and routes. The caller starts and closes it.
 * @param groups route groups, each registered in a separate scope
 */
export function createApp(options: AppOptions, groups: readonly RouteGroup[]): FastifyInstance {
  const idPrefix = randomBytes(6).toString('base64url');
  let requests = 0;
  const addresses = createClientAddresses(options.trustedProxies);
  const app = fastify({
    // Fastify's request log contains paths and addresses, which may be personal data.
    logger: false,
    genReqId: () => `${idPrefix}-${++requests}`,
    // This is used for X-Forwarded-Host only, because Fastify would accept entries of X-Forwarded-For that are not
    // addresses.
    trustProxy: (peer) => addresses.isProxy(peer),
    bodyLimit: DEFAULT_BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // `boundForms` answers requests without Host, because Node's own response would have no body.
    http: { requireHostHeader: false },
    rewriteUrl: originForm,
    routerOptions: { maxParamLength: MAX_URL_PART, querystringParser: parseQuery },
    clientErrorHandler: (error, socket) => answerClientError(connections, error, socket),
    // Handles malformed URLs, for which no hook runs.
    frameworkErrors: (_error, { raw }, reply) => {
      refusedForm(raw, reply, connections);
      sendError(reply.header('x-content-type-options', 'nosniff'), new ApiError('BAD_REQUEST'));
    },
  });
  const connections = new Connections(app.server);
  app.decorateRequest('caller', null);
  app.decorateRequest('scannedSite', null);
  app.decorateRequest('panelUser', null);
  app.decorateRequest('isFromProxy', {
    getter() {
      return addresses.isProxy(this.socket.remoteAddress);
    },
  });
  app.decorateRequest('clientAddress', {
    getter() {
      return addresses.of(this.socket.remoteAddress, this.headers['x-forwarded-for']);
    },
  });
  const { ipv6ClientPrefix = DEFAULT_IPV6_CLIENT_PREFIX } = options;
  app.decorateRequest('countedClient', {
    getter() {
      return countedClient(this.clientAddress ?? '', ipv6ClientPrefix);
    },
  });
  app.decorateRequest('countedNetwork', {
    getter() {
      return countedNetwork(this.clientAddress ?? '');
    },
  });
  boundHeaders(app);
  boundForms(app, connections);
  boundBodies(app);
  keepRawBodies(app);
  drainOnClose(app, connections, options.drain ?? DEFAULT_DRAIN);
  logRequests(app, options.log);
  if (options.scannerHost !== undefined) serveOnlyToolApiOn(app, options.scannerHost);
  setSecurityHeaders(app);
  refuseTrailingSlashes(app);

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const told = apiErrorOf(error);
    const hasBegun = reply.raw.headersSent;
    // The client has disconnected, so there is nobody to respond to.
    if (hasBegun && reply.raw.destroyed) return;
    // A refusal without a cause means that a limit worked, not that something failed. The request's log line says so.
    const cause = told === null ? error : told.status >= 500 ? told.cause : undefined;
    if (cause !== undefined) {
      options.log.error(
        { request_id: request.id, route: request.routeOptions.url ?? null, ...failureOf(cause) },
        'a request failed',
      );
    }
    // Once a response has begun, only closing the connection can show that it is incomplete.
    if (hasBegun) return void reply.raw.destroy();
    if (told?.code === OVERLOADED) connections.deferReading(request.raw);
    if (told?.code === 'ROUTE_NOT_FOUND') return sendNotFound(request, reply, told);
    if (told !== null) return sendError(reply, told);
    return sendError(reply, new ApiError('INTERNAL_ERROR', `The service failed (request ${request.id}).`));
  });
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply, error: ApiError) => {
    const isScanner = request.hostname.toLowerCase() === options.scannerHost;
    return wantsPage(request) && !isScanner ? sendMissingPage(reply) : sendError(reply, error);
  };
  app.setNotFoundHandler((request, reply) => sendNotFound(request, reply, new ApiError('ROUTE_NOT_FOUND')));

  const answerOtherMethods = collectRoutes(app);
  for (const group of groups) {
    app.register(async (scope) => {
      await group(scope);
    });
  }
  app.register(async (scope) => answerOtherMethods(scope));
  return app;
}

/** Takes the first value of each name, so that a repeated parameter does not become an array. */
function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) query[name] ??= value;
  return query;
}

/** Limits a second host name to /tool/v1. @param host the host in lower case, without a port */
function serveOnlyToolApiOn(app: FastifyInstance, host: string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused = request.hostname.toLowerCase() === host && !request.url.startsWith('/tool/v1/');
    done(isRefused ? new ApiError('ROUTE_NOT_FOUND') : undefined);
  });
}

/**
 * By default a response is not a page: browsers must not render it, and caches must not store it unless the route
 * permits that. Scripts of other origins may read responses (CORS decides which). The set is constant because
 * middleware that computed it per request cost as much as the response itself.
 */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

/** Sets the security headers on every response. */
function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS);
    done();
  });
}

/** Maximum number of header lines of a request. Browsers and proxies send a few dozen. */
export const MAX_HEADER_LINES = 200;

/**
 * Refuses a request with more header lines than `MAX_HEADER_LINES`. Node silently drops the lines beyond its limit. A
 * client could use this to hide the proxy's `X-Forwarded-For` line, which comes last; evidence and limits would then
 * use the address of the proxy. Also refuses two `Host` lines, because Node and a proxy may each pick a different one
 * (RFC 9112 §3.2), and a request line without a version, which is not HTTP/1 (RFC 9112 §3).
 */
function boundHeaders(app: FastifyInstance): void {
  // One more than permitted, so that a request with exactly the permitted number differs from a truncated one.
  app.server.maxHeadersCount = MAX_HEADER_LINES + 1;
  app.addHook('onRequest', (request, _reply, done) => {
    const { rawHeaders, httpVersionMajor } = request.raw;
    // Names and values alternate in the list.
    if (rawHeaders.length > 2 * MAX_HEADER_LINES) return done(new ApiError('HEADERS_TOO_LARGE'));
    const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length > 1 || httpVersionMajor !== 1) return done(new ApiError('BAD_REQUEST'));
    done();
  });
}

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'Content-Type, X-API-Key, X-Person-Token, X-Signature, X-Timestamp, X-Nonce, Authorization',
  'access-control-max-age': '600',
} as const;
const EXPOSED =
  'ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, RateLimit, RateLimit-Policy, Idempotency-Mismatch';

/**
 * Allows scripts of other origins to call the routes of this scope (Fetch standard, "CORS protocol"). A preflight has
 * no API key, so the site is unknown and every origin passes. The actual request is refused unless the site allows the
 * origin. The page can read the code of this error, which says nothing about the site. Cookies are never used.
 */
export function allowCrossOrigin(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin !== undefined) {
      reply.header('access-control-allow-origin', origin);
      reply.header('access-control-expose-headers', EXPOSED);
    }
    done();
  });
  scope.options('/*', (_request, reply) => {
    reply.code(204).headers(PREFLIGHT).send();
  });
}
