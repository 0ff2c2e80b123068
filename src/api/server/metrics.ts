import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';

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
  scope.get('/metrics', { exposeHeadRoute: false }, async (request, reply) => {
    const { authorization } = request.headers;
    if (authorization === undefined) throw new ApiError('MISSING_BEARER_TOKEN');
    const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
    // Both digests have the same length, so that the comparison reveals nothing about the token's
    // length.
    if (!timingSafeEqual(sha256(utf8(given)), expected)) throw new ApiError('INVALID_BEARER_TOKEN');
    return reply
      .header('content-type', metrics.contentType)
      .header('cache-control', 'no-store')
      .send(await metrics.text());
  });
}
