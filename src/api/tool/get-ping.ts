import type { PingResponse } from '../../../schemas/api/ping.js';
import { ping } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';

/** Tells a client that its API key works, for which site and in which scope. */
export function pingRoutes(): readonly ToolRoute[] {
  return [
    reads(
      ping,
      async ({ caller: { apiKey, site } }): Promise<PingResponse> => ({
        message: 'pong',
        data: { site_id: site.siteId, scope: apiKey.scope, time: new Date().toISOString() },
      }),
    ),
  ];
}
