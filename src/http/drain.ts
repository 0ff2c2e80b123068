import type { FastifyInstance } from 'fastify';

const SWEEP_MS = 50;

/**
 * Lets `app.close()` end soon, and cut nothing off: requests under way are answered, requests that come on a connection that is still open are
 * answered too and told to open no more, and a connection is closed as soon as it idles.
 */
export function drainOnClose(app: FastifyInstance): void {
  let isClosing = false;
  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    isClosing = true;
    sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
    done();
  });
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep);
    done();
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}
