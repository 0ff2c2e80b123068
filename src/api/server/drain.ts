import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const SWEEP_MS = 50;

/**
 * Lets `app.close()` end soon without truncated responses. Requests in progress are answered.
 * Requests on open connections are answered with `Connection: close`, and idle connections are
 * closed.
 *
 * Clients cannot delay the close. After `graceMs`, a connection is closed unless its complete
 * request is in progress or its response is being sent. A response is dropped if the client has not
 * read from it for `graceMs`.
 * @param graceMs milliseconds
 */
export function drainOnClose(app: FastifyInstance, graceMs: number): void {
  const connections = new Connections(graceMs);
  app.server.on('connection', (socket: Socket) => connections.add(socket));
  // Node, also in `close`, treats a connection as idle once its response is written to it, and
  // drops the unsent bytes.
  app.server.closeIdleConnections = () => connections.closeIdle();
  let isClosing = false;
  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    isClosing = true;
    const since = performance.now();
    sweep = setInterval(() => {
      connections.closeIdle();
      connections.cutOff(since, performance.now());
    }, SWEEP_MS);
    done();
  });
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep);
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    connections.begin(request.raw, reply.raw);
    if (isClosing) reply.header('connection', 'close');
    done();
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

class Connections {
  readonly #open = new Set<Socket>();
  readonly #newest = new WeakMap<Socket, Exchange>();
  /** The time since which a connection has unsent bytes, as of the last sweep. */
  readonly #unsentSince = new WeakMap<Socket, number>();

  constructor(private readonly graceMs: number) {}

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#newest.set(request.socket, { request, response });
  }

  closeIdle(): void {
    for (const socket of this.#open) {
      const isAnswered = this.#newest.get(socket)?.response.writableFinished ?? socket.bytesRead === 0;
      if (isAnswered && socket.writableLength === 0) socket.destroy();
    }
  }

  /**
   * Closes connections after the grace period.
   * @param since start of the close, on the clock of `now` (milliseconds)
   */
  cutOff(since: number, now: number): void {
    for (const socket of this.#open) {
      if (socket.writableLength === 0) this.#unsentSince.delete(socket);
      else if (!this.#unsentSince.has(socket)) this.#unsentSince.set(socket, now);
      if (now - since < this.graceMs) continue;
      const unsentSince = this.#unsentSince.get(socket);
      const mayStay = unsentSince === undefined ? this.#isWorkedOn(socket) : now - unsentSince < this.graceMs;
      if (!mayStay) socket.destroy();
    }
  }

  #isWorkedOn(socket: Socket): boolean {
    const exchange = this.#newest.get(socket);
    return exchange?.request.complete === true && !exchange.response.writableEnded;
  }
}
