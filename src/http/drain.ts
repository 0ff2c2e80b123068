import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Bounds how long callers may keep a stopping application: `graceMs` after it began to close, a connection is cut unless its request is complete
 * and being worked on; and so is one that then has an answer which nobody takes for `graceMs`. So a caller that takes its answer always gets it, and
 * one that sends or reads nothing, by mistake or on purpose, does not hold the process.
 */
export function cutOffAfterGrace(app: FastifyInstance, graceMs: number): void {
  const sockets = new Set<Socket>();
  const newest = new WeakMap<Socket, Exchange>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('onRequest', (request, reply, done) => {
    newest.set(request.raw.socket, { request: request.raw, response: reply.raw });
    done();
  });

  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    const closingSince = performance.now();
    const untakenSince = new WeakMap<Socket, number>();
    const look = (): void => {
      const now = performance.now();
      for (const socket of sockets) {
        if (socket.writableLength === 0) untakenSince.delete(socket);
        else if (!untakenSince.has(socket)) untakenSince.set(socket, now);
        const isUntaken = now - (untakenSince.get(socket) ?? now) >= graceMs;
        const isPastGrace = now - closingSince >= graceMs;
        if (isPastGrace && (isUntaken || !(isWorkedOn(newest.get(socket)) || socket.writableLength > 0))) {
          socket.destroy();
        }
      }
    };
    sweep = setInterval(look, Math.min(SWEEP_MS, Math.max(1, graceMs)));
    done();
  });
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep);
    done();
  });
}

/** Whether the request is all there, and its answer not. */
function isWorkedOn(exchange: Exchange | undefined): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded;
}
