import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Time in milliseconds for the client to close a connection that the server has ended. */
const LINGER_MS = 2_000;
/** Time in milliseconds without progress after which an unread response is dropped. */
const UNREAD_MS = 60_000;
/** Time in milliseconds for the first request of a new connection to arrive when the service stops. */
const FIRST_REQUEST_MS = 1_000;
/** Connections that resume reading in one turn of the event loop. */
const WOKEN_IN_A_TURN = 512;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  readonly acceptedAt: number;
  /** Exchanges whose responses are not complete, in the order of their requests. */
  readonly exchanges: Set<Exchange>;
  /** Number of bytes that had arrived when the last response was complete; 0 before the first. */
  bytesOfAnswered: number;
  /** Time since which bytes of a response have been waiting to be sent, as of the last sweep, or null if none are. */
  unsentSince: number | null;
  /** Whether a response has announced the close, or the server has sent FIN. */
  isEnding: boolean;
}

/** The open connections of a server. All times are milliseconds of the monotonic clock. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #ignored = new WeakSet<IncomingMessage>();
  /** Connections whose reading is paused for some turns of the event loop. The first has waited longest. */
  readonly #deferred = new Set<Socket>();
  #accepted = 0;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#add(socket));
    // Registered before the application's listener, so that a request is known when its hooks run.
    server.prependListener('request', (request, response) => this.#begin(request, response));
    // Node closes a connection whose response is written but not yet sent, which loses its last bytes.
    server.closeIdleConnections = () => undefined;
  }

  /** Number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /**
   * Returns whether a request came after its connection's close was announced. The client would get no response, so it
   * must not be processed (RFC 9112 §9.6).
   */
  isIgnored(request: IncomingMessage): boolean {
    return this.#ignored.has(request);
  }

  /** Whether the connection of a request will be closed. */
  isEnding({ socket }: IncomingMessage): boolean {
    return this.#open.get(socket)?.isEnding ?? false;
  }

  /**
   * Returns whether the response to a request may announce the close, and if so, records that it does. Only the newest
   * request of a connection may: the responses to pipelined ones after it would be lost.
   */
  announceClose(request: IncomingMessage): boolean {
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return true;
    const newest = [...connection.exchanges].at(-1);
    if (newest !== undefined && newest.request !== request) return false;
    connection.isEnding = true;
    return true;
  }

  /**
   * Pauses reading from the connection of a request until the event loop has turned and the connections paused before
   * it have resumed. While more than 1,024 sockets are ready, libuv reads up to 48 times that many before it runs
   * timers and immediates. If thousands of clients retry refused requests at once, that takes many seconds.
   */
  deferReading({ socket }: IncomingMessage): void {
    if (!this.#open.has(socket)) return;
    if (this.#deferred.size === 0) setImmediate(() => this.#resume());
    this.#deferred.add(socket);
    socket.pause();
  }

  /**
   * Ends a connection after every complete request on it has been answered.
   * @param lastWords bytes that are sent if there is no such request, or if an incomplete request follows
   */
  endAfterAnswers(socket: Socket, lastWords: string): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) {
      socket.end(lastWords);
      return;
    }
    if (connection.isEnding) return;
    connection.isEnding = true;
    const admitted = [...connection.exchanges].filter(({ request }) => request.complete);
    const isBroken = admitted.length === 0 || admitted.length < connection.exchanges.size;
    const end = (): void => {
      if (socket.writableEnded) return;
      if (isBroken) socket.end(lastWords);
      else socket.end();
      lingerAfterEnd(socket);
    };
    const last = admitted.at(-1);
    if (last === undefined) end();
    else last.response.once('close', end);
  }

  /** Ends connections that have no request in progress. @param now the time */
  endIdle(now: number): void {
    for (const [socket, connection] of this.#open) {
      if (connection.exchanges.size > 0 || connection.isEnding || socket.writableLength > 0) continue;
      if (this.#deferred.has(socket)) continue;
      const isNew = socket.bytesRead === 0 && now - connection.acceptedAt < FIRST_REQUEST_MS;
      if (isNew || socket.bytesRead > connection.bytesOfAnswered) continue;
      connection.isEnding = true;
      socket.destroySoon();
    }
  }

  /**
   * Closes connections after the grace period, unless their complete request is in progress or
   * their response is being sent.
   * @param since start of the grace period
   * @param now the time
   */
  cutOff(since: number, now: number, graceMs: number): void {
    for (const [socket, connection] of this.#open) {
      connection.unsentSince = socket.writableLength === 0 ? null : (connection.unsentSince ?? now);
      if (now - since < graceMs) continue;
      const { unsentSince } = connection;
      const mayStay = unsentSince === null ? isWorkedOn(connection) : now - unsentSince < graceMs;
      if (!mayStay) socket.destroy();
    }
  }

  #add(socket: Socket): void {
    this.#accepted += 1;
    const connection: Connection = {
      acceptedAt: performance.now(),
      exchanges: new Set(),
      bytesOfAnswered: 0,
      unsentSince: null,
      isEnding: false,
    };
    this.#open.set(socket, connection);
    // Node resumes a connection to discard the body of a refused request.
    socket.on('resume', () => {
      if (this.#deferred.has(socket)) socket.pause();
    });
    socket.once('close', () => {
      this.#open.delete(socket);
      // Node closes only the response that is being sent. The ones queued behind it would never release what they hold.
      for (const { response } of connection.exchanges) if (response.socket === null) response.emit('close');
    });
    // Node calls this after a response that announced the close. Its own version closes the connection immediately, and
    // a client that is still sending may get a reset instead of the response.
    socket.destroySoon = () => {
      if (socket.writable) socket.end();
      lingerAfterEnd(socket);
    };
  }

  #resume(): void {
    let woken = 0;
    for (const socket of this.#deferred) {
      if (woken === WOKEN_IN_A_TURN) break;
      woken += 1;
      this.#deferred.delete(socket);
      socket.resume();
    }
    if (this.#deferred.size > 0) setImmediate(() => this.#resume());
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    if (connection.isEnding) {
      this.#ignored.add(request);
      return;
    }
    const exchange = { request, response };
    connection.exchanges.add(exchange);
    response.once('close', () => {
      connection.exchanges.delete(exchange);
      connection.bytesOfAnswered = socket.bytesRead;
    });
  }
}

function isWorkedOn({ exchanges }: Connection): boolean {
  return [...exchanges].some(({ request, response }) => request.complete && !response.writableEnded);
}

/**
 * Destroys an ended connection that the client does not close, because it holds a file descriptor (RFC 9112 §9.6: a
 * server closes in stages).
 */
function lingerAfterEnd(socket: Socket): void {
  const destroy = (): void => {
    socket.destroy();
  };
  const wait = (): void => {
    const timer = setTimeout(destroy, LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
  if (socket.destroyed) return;
  if (socket.writableFinished) {
    wait();
    return;
  }
  socket.setTimeout(UNREAD_MS, destroy);
  socket.once('finish', wait);
}
