import { once } from 'node:events';
import net from 'node:net';
import type { Fault } from './faults.js';
import { FrontendFrames, ServerFrames, type Write } from './postgres-frames.js';

interface ArmedFault {
  readonly fault: Fault;
  readonly isMeant: (write: Write) => boolean;
  readonly strike: () => void;
}

/**
 * All connections of one process to PostgreSQL. It understands the protocol as far as it has to, so that
 * a fault hits one chosen statement, before the server sees it or after the server has answered.
 */
export class PostgresFront {
  readonly #sockets = new Set<net.Socket>();
  #armed: ArmedFault | null = null;
  #isDead = false;
  #isSilent = false;

  private constructor(
    private readonly server: net.Server,
    private readonly target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.#serve(client));
  }

  /** @param databaseUrl of the server; `url` leads through the front */
  static async start(databaseUrl: string): Promise<{ readonly front: PostgresFront; readonly url: string }> {
    const url = new URL(databaseUrl);
    const target = { host: url.hostname, port: Number(url.port) };
    const server = net.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the front does not listen');
    url.port = String(address.port);
    return { front: new PostgresFront(server, target), url: url.toString() };
  }

  /** Resolves when the fault has hit the next write that is meant. */
  arm(fault: Fault, isMeant: (write: Write) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#armed = { fault, isMeant, strike: resolve };
    });
  }

  /** From now on the process reaches the server no more, as if it had been killed. */
  die(): void {
    this.#isDead = true;
    this.cut();
  }

  /** From now on nothing arrives at either side, as if the host of the database had vanished. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Ends the silence. Its connections are broken, because bytes of them are missing. */
  restore(): void {
    this.#isSilent = false;
    this.cut();
  }

  /** Breaks every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.die();
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(client: net.Socket): void {
    if (this.#isDead) {
      client.destroy();
      return;
    }
    const upstream = net.connect(this.target);
    this.#keepTogether(client, upstream);
    /** Fault that applies to the answer of the current statement; null: the answer passes. */
    let struck: ArmedFault | null = null;
    const frames = new FrontendFrames((bytes, statement) => {
      const armed = statement === null ? null : this.#take(statement);
      if (armed?.fault === 'stopped-before') {
        this.die();
        armed.strike();
        return;
      }
      struck = armed;
      upstream.write(bytes);
    });
    const answers = new ServerFrames((bytes, isReady) => {
      if (isReady && bytes[5] === IDLE) frames.endTransaction();
      if (struck === null) client.write(bytes);
      else if (struck.fault === 'failed-after' && KEPT.has(bytes[0] ?? 0)) client.write(bytes);
      else if (isReady) {
        const { fault, strike } = struck;
        struck = null;
        if (fault === 'stopped-after') this.die();
        else if (fault === 'answer-lost') client.destroy();
        else client.write(Buffer.concat([FAILURE, bytes]));
        strike();
      }
    });
    client.on('data', (chunk) => {
      if (!this.#isSilent) frames.push(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!this.#isSilent) answers.push(chunk);
    });
  }

  #take(write: Write): ArmedFault | null {
    const armed = this.#armed;
    if (armed === null || !armed.isMeant(write)) return null;
    this.#armed = null;
    return armed;
  }

  #keepTogether(client: net.Socket, upstream: net.Socket): void {
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      // An error is followed by 'close'.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}

/** State of a session without a transaction, in ReadyForQuery. */
const IDLE = 'I'.charCodeAt(0);
/** ParseComplete and BindComplete: without them the client would prepare the statement again. */
const KEPT: ReadonlySet<number> = new Set(['1', '2'].map((type) => type.charCodeAt(0)));

/** The class of SQLSTATE 08007 is a connection's; its meaning is “transaction resolution unknown”. */
const FAILURE = errorResponse('08007', 'injected: the write is durable, and this answer says nothing about it');

function errorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
