import type { Logger } from 'pino';
import type { TracingConfig } from '../config/index.js';
import { NO_TRACING, type Tracing } from './tracing.js';

export interface TracedProcess {
  readonly role: string;
  readonly version: string;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Opens the traces that are configured. Where none are, nothing of OpenTelemetry is even loaded. */
export async function openTracing(config: TracingConfig | undefined, about: TracedProcess): Promise<Tracing> {
  if (config === undefined) return NO_TRACING;
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(config, about);
}
