import type { FastifyInstance } from 'fastify';
import type { PingResponse } from '../../../schemas/api/ping.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';

/** GET /tool/v1/ping */
export function getPing(tool: FastifyInstance, guards: ToolGuards): void {
  tool.get('/ping', { onRequest: guards.anyKey }, (request, reply) => {
    const { apiKey, site } = callerOf(request);
    const body: PingResponse = {
      message: 'pong',
      data: { site_id: site.siteId, scope: apiKey.scope, time: new Date().toISOString() },
    };
    reply.send(body);
  });
}
