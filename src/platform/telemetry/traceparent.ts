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
