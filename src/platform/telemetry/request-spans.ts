import type { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SpanPlace } from './tracing.js';

/**
 * Parses a `traceparent` header (W3C Trace Context §3.2). `tracestate` is ignored, because client
 * data must not reach the collector.
 * @returns null if the header is malformed
 */
export function parseTraceparent(header: string | readonly string[] | undefined): SpanPlace | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/.exec(header) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/**
 * Creates a span for each request, with its method, route *pattern* and status. Paths, headers,
 * addresses and bodies are excluded, because they identify persons, sites and keys.
 * @param contexts storage of the current context; within a request it contains the span
 */
export function spanRequests(app: FastifyInstance, tracer: Tracer, contexts: AsyncLocalStorage<Context>): void {
  const contextOf = new WeakMap<FastifyRequest, Context>();
  app.addHook('onRequest', (request, reply, done) => {
    const parent = parseTraceparent(request.headers.traceparent);
    const { method } = request;
    const route = request.routeOptions.url;
    const span = tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) },
      },
      parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }),
    );
    reply.raw.once('close', () => {
      const { statusCode, writableFinished } = reply.raw;
      span.setAttribute('http.response.status_code', statusCode);
      const failure = reply.errorCode ?? (writableFinished ? undefined : 'cut_off');
      if (failure !== undefined) span.setAttribute('error.type', failure);
      if (statusCode >= 500 || !writableFinished) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    contextOf.set(request, context);
    contexts.run(context, done);
  });
  // The body arrives through events of the connection, outside of the earlier context.
  app.addHook('preValidation', (request, _reply, done) => {
    const context = contextOf.get(request);
    if (context === undefined) done();
    else contexts.run(context, done);
  });
}
