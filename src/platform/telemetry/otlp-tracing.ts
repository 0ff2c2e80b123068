import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { TracingConfig } from '../config/index.js';
import { reportingExporter } from './reporting-exporter.js';
import { spanRequests } from './request-spans.js';
import { samplerOf } from './samplers.js';
import type { SpanFacts, SpanOptions, SpanPlace, TracedProcess, Tracing } from './tracing.js';

/** Maximum wait for the collector when the service stops. */
const STOP_MS = 3_000;
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

/**
 * Creates tracing that exports to a collector (OTLP over HTTP, in JSON). Nothing is registered
 * globally, so a process may have several.
 */
export function createOtlpTracing(config: TracingConfig, about: TracedProcess): Tracing {
  const exporter = new OTLPTraceExporter({
    url: config.url,
    headers: { ...config.headers },
    timeoutMillis: config.timeoutMs,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': config.serviceName,
      'service.version': about.version,
      'consent_ledger.role': about.role,
      ...config.resourceAttributes,
    }),
    sampler: samplerOf(config),
    spanProcessors: [new BatchSpanProcessor(reportingExporter(exporter, about.logger))],
  });
  const tracer = provider.getTracer('consent-ledger', about.version);
  const contexts = new AsyncLocalStorage<Context>();
  return {
    span: (name, facts, work, options = {}) => {
      const parent = options.worksFor === undefined ? (contexts.getStore() ?? ROOT_CONTEXT) : ROOT_CONTEXT;
      const span = startSpan(tracer, name, facts, options, parent);
      return contexts.run(trace.setSpan(parent, span), () =>
        within(span, () => work({ add: (more) => span.setAttributes(more) })),
      );
    },
    current: () => {
      const span = trace.getSpan(contexts.getStore() ?? ROOT_CONTEXT);
      return span?.isRecording() === true ? span.spanContext() : null;
    },
    traceRequests: (app) => spanRequests(app, tracer, contexts),
    stop: async () => {
      await Promise.race([provider.shutdown().catch(() => undefined), delay(STOP_MS, undefined, { ref: false })]);
    },
  };
}

function startSpan(tracer: Tracer, name: string, facts: SpanFacts, options: SpanOptions, parent: Context): Span {
  const { kind = 'internal', worksFor = [] } = options;
  const links = worksFor.map((context: SpanPlace) => ({ context }));
  return tracer.startSpan(name, { attributes: { ...facts }, kind: KINDS[kind], links }, parent);
}

async function within<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
