import type { FastifyInstance } from 'fastify';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { requireBearerToken } from './caller.js';

/** The metrics of the process, as Prometheus reads them. */
export interface MetricsText {
  readonly contentType: string;
  /** The current values in the text format that `contentType` names. */
  text(): Promise<string>;
}

/**
 * Registers GET /metrics in the Prometheus text format. It requires the token, because volumes and
 * failures are confidential.
 */
export function metricsRoute(scope: FastifyInstance, metrics: MetricsText, token: string): void {
  const expected = sha256(utf8(token));
  scope.get('/metrics', async (request, reply) => {
    requireBearerToken(request.headers.authorization, [expected]);
    return reply
      .header('content-type', metrics.contentType)
      .header('cache-control', 'no-store')
      .send(await metrics.text());
  });
}
