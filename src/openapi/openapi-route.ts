import type { FastifyInstance } from 'fastify';
import { toolApiText } from './tool-api.js';

/** GET /openapi/tool-api.json: for everybody, from any origin. */
export function openApiRoute(scope: FastifyInstance): void {
  const text = toolApiText();
  scope.get('/openapi/tool-api.json', (_request, reply) => {
    reply
      .headers({
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=300',
        'content-type': 'application/json; charset=utf-8',
      })
      .send(text);
  });
}
