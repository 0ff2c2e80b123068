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
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import type { TracingConfig } from '../config/index.js';
import { spanRequests } from './request-spans.js';
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

/** Returns the sampler that `OTEL_TRACES_SAMPLER` names. */
export function samplerOf({ sampler, samplerRatio }: Pick<TracingConfig, 'sampler' | 'samplerRatio'>): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(samplerRatio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(samplerRatio) });
  }
}

const QUIET_MS = 60_000;
const SUCCESS = 0;

/**
 * Returns an exporter that forwards spans and logs failed exports, at most once a minute. The SDK
 * would drop the spans without a message.
 */
export function reportingExporter(exporter: SpanExporter, logger: Pick<Logger, 'warn'>): SpanExporter {
  let saidAt = Number.NEGATIVE_INFINITY;
  let lost = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== SUCCESS) {
          lost += spans.length;
          if (performance.now() - saidAt > QUIET_MS) {
            logger.warn({ lost_spans: lost, reason: result.error?.message }, 'traces did not reach the collector');
            saidAt = performance.now();
            lost = 0;
          }
        }
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
