import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/**
 * Attributes of a span: counts, kinds and states. Never personal data, and no value that a client
 * chose.
 */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A span in progress. */
export interface OpenSpan {
  /** Adds attributes that become known during the span. */
  add(facts: SpanFacts): void;
}

/** Position of a span in its trace (W3C Trace Context). */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'client';
  /** Spans of other traces that this span links to. It then begins its own trace. */
  readonly worksFor?: readonly SpanPlace[];
}

/** Tracing, enabled or disabled. All parts of the service use the same interface in both cases. */
export interface Tracing {
  /**
   * Runs work within a span, a child of the current one. A failure is recorded only by the name of
   * the error, because messages may quote values.
   * @throws any error of `work`
   */
  span<T>(name: string, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>, options?: SpanOptions): Promise<T>;
  /** Returns the current span if it is recorded. */
  current(): SpanPlace | null;
  /**
   * Creates a span for each request of an application, as a child of the client's `traceparent`.
   */
  traceRequests(app: FastifyInstance): void;
  /** Exports the remaining spans within a few seconds. */
  stop(): Promise<void>;
}

const NO_SPAN: OpenSpan = { add: () => undefined };

/** Disabled tracing. */
export const NO_TRACING: Tracing = {
  span: (_name, _facts, work) => work(NO_SPAN),
  current: () => null,
  traceRequests: () => undefined,
  stop: async () => undefined,
};

/** The process that the traces describe. */
export interface TracedProcess {
  readonly role: string;
  readonly version: string;
  readonly logger: Pick<Logger, 'warn'>;
}
