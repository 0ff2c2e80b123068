import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** What a span says besides its name: counts, kinds, states. Never a personal datum, and nothing that a caller chose. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A span that is under way. */
export interface OpenSpan {
  /** Adds what is known only now. */
  add(facts: SpanFacts): void;
}

/** Where a span belongs in its trace (W3C Trace Context). */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'client';
  /** Spans of other traces that this one works for: it then begins a trace of its own. */
  readonly worksFor?: readonly SpanPlace[];
}

/** Traces, or nothing at all: each part of the service calls the same, whether they are on. */
export interface Tracing {
  /**
   * Runs work within a span, a child of the one that is under way. A failure is noted by its name alone: messages may quote values.
   * @throws what `work` throws
   */
  span<T>(name: string, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>, options?: SpanOptions): Promise<T>;
  /** The span under way, if there is one that is recorded. */
  current(): SpanPlace | null;
  /** Gives each request of an application a span, below that of the caller's `traceparent`. */
  traceRequests(app: FastifyInstance): void;
  /** Hands over what is left, within a few seconds. */
  stop(): Promise<void>;
}

const NO_SPAN: OpenSpan = { add: () => undefined };

/** Traces are off. */
export const NO_TRACING: Tracing = {
  span: (_name, _facts, work) => work(NO_SPAN),
  current: () => null,
  traceRequests: () => undefined,
  stop: async () => undefined,
};

/** The process that traces describe. */
export interface TracedProcess {
  readonly role: string;
  readonly version: string;
  readonly logger: Pick<Logger, 'warn'>;
}
