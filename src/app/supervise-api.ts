import type { ServiceLogger } from '../platform/background/part.js';
import type { Environment } from '../platform/config/index.js';
import { FromFirstApi } from './process-messages.js';
import type { Service } from './start-service.js';
import { API_SILENCE, FIRST_API_PROGRAM, superviseProcess } from './supervise-process.js';

/**
 * Starts the process that answers callers, and starts it again on the same port if it ends unexpectedly. The
 * supervising process never reads untrusted input, so no request can end it.
 * @param role `serve`: that process starts the worker and further processes itself
 * @throws Error if the process ends before it answers callers, with its message for the operator
 */
export async function superviseApi(
  role: 'serve' | 'api',
  env: Environment,
  logger: ServiceLogger,
): Promise<Pick<Service, 'url' | 'failed' | 'stop'>> {
  let url = '';
  const supervised = superviseProcess({
    name: 'API',
    program: FIRST_API_PROGRAM,
    args: [role],
    // Callers know the port of the first start, which the system chose if PORT was 0.
    env: () => (url === '' ? env : { ...env, PORT: new URL(url).port }),
    logger,
    stopMs: null,
    silence: API_SILENCE,
    onOther: (message) => {
      const { success, data } = FromFirstApi.safeParse(message);
      if (success) ({ url } = data);
      return success;
    },
  });
  await supervised.start();
  return { url, failed: supervised.failed, stop: () => supervised.stop() };
}
