import type { PingResponse } from '../../../schemas/api/ping.js';
import { ping } from './operations/reading.js';
import { readsPublicly, type ToolRoute } from './route.js';

/** Tells a client that its API key works, for which site and in which scope; or that a site is there. */
export function pingRoutes(): readonly ToolRoute[] {
  return [
    readsPublicly(
      ping,
      async ({ apiKey, site }): Promise<PingResponse> => ({
        message: 'pong',
        data: { site_id: site.siteId, scope: apiKey?.scope ?? 'public', time: new Date().toISOString() },
      }),
    ),
  ];
}
