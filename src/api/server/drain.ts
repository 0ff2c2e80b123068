import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.js';

const SWEEP_MS = 50;
/** Milliseconds without a new connection after which the backlog is considered empty. */
const BACKLOG_QUIET_MS = 20;
/**
 * Limit for emptying the backlog, in milliseconds. It is long because turns of the event loop are slow on a busy
 * machine, and Node 20 accepts one connection per turn.
 */
const BACKLOG_LIMIT_MS = 5_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the application has begun to close. */
    readonly isStopping: () => boolean;
  }
}

/** How an application closes. Times are in milliseconds. */
export interface DrainOptions {
  /** Returns the time for which the application still accepts connections. Called when the close begins. */
  readonly lameDuckMs: () => number;
  /** Time after that for clients to finish requests and read responses. */
  readonly graceMs: number;
}

/**
 * Makes `app.close()` end soon, without losing requests or truncating responses.
 *
 * For `lameDuckMs` everything is accepted and answered, with `Connection: close`, while `/readyz` reports the stop to
 * load balancers. Connections in the system's backlog are accepted too, because the system would reset them when the
 * listener closes. Then the listener closes, requests on open connections are answered, and idle connections are ended.
 *
 * Clients cannot delay the close. After `graceMs`, a connection is closed unless its complete
 * request is in progress or its response is being sent. A response is dropped if the client has not
 * read from it for `graceMs`.
 */
export function drainOnClose(app: FastifyInstance, connections: Connections, options: DrainOptions): void {
  let isClosing = false;
  let sweep: NodeJS.Timeout | undefined;
  app.decorate('isStopping', () => isClosing);
  app.addHook('preClose', async () => {
    isClosing = true;
    await sleep(options.lameDuckMs());
    await emptyBacklog(connections);
    const since = performance.now();
    sweep = setInterval(() => {
      // `setImmediate` runs after the sockets are read, so every request that has arrived is known by then.
      setImmediate(() => {
        const now = performance.now();
        connections.endIdle(now);
        connections.cutOff(since, now, options.graceMs);
      });
    }, SWEEP_MS);
  });
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep);
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (connections.isIgnored(request.raw)) reply.hijack();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isClosing || connections.isEnding(request.raw)) {
      if (connections.announceClose(request.raw)) reply.header('connection', 'close');
      // The framework announces the close in every response.
      else reply.raw.removeHeader('connection');
    }
    done(null, payload);
  });
}

async function emptyBacklog(connections: Connections): Promise<void> {
  const until = performance.now() + BACKLOG_LIMIT_MS;
  for (let accepted = -1; accepted !== connections.accepted && performance.now() < until; ) {
    accepted = connections.accepted;
    await sleep(BACKLOG_QUIET_MS);
    // Even if the timer is late, pending connections are accepted before the immediates of a turn run.
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  }
}
