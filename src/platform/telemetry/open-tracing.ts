import type { TracingConfig } from '../config/index.js';
import { NO_TRACING, type TracedProcess, type Tracing } from './tracing.js';

/**
 * Opens the configured tracing. Without configuration, the OpenTelemetry packages are not loaded.
 */
export async function openTracing(config: TracingConfig | undefined, about: TracedProcess): Promise<Tracing> {
  if (config === undefined) return NO_TRACING;
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(config, about);
}
