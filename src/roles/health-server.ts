import { createApp } from '../http/app.js';
import { healthRoutes } from '../http/routes/health.js';
import type { Api } from './api.js';
import type { Installation } from './installation.js';

/** What a worker answers over HTTP: whether it runs and reaches its database and log. */
export function createHealthServer({ config, logger, workerPool, eventLog }: Installation): Api {
  const checkReadiness = async (): Promise<void> => {
    await workerPool.query('select 1');
    await eventLog.ping();
  };
  const app = createApp({ log: logger, trustedProxies: [] }, [(scope) => healthRoutes(scope, checkReadiness)]);
  return {
    listen: () => app.listen({ host: config.http.host, port: config.http.port }),
    stop: async () => {
      await app.close();
    },
  };
}
