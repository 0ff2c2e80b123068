import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';

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
