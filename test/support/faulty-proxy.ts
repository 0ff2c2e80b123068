import { once } from 'node:events';
import net from 'node:net';

/**
 * A TCP proxy on 127.0.0.1 that injects network faults: lost responses, broken connections, an
 * unreachable server. It does not change the data otherwise.
 */
export class FaultyProxy {
  readonly #connections = new Set<net.Socket>();
  #swallowing = false;
  #refusing = false;
  #silent = false;

  private constructor(
    private readonly server: net.Server,
    private target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.#serve(client));
  }

  /** Starts a proxy in front of `target`, on a separate port. */
  static async start(target: { readonly host: string; readonly port: number }): Promise<FaultyProxy> {
    const server = net.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyProxy(server, target);
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return address.port;
  }

  /** From now on requests still reach the server, but no response reaches the client. */
  swallowAnswers(): void {
    this.#swallowing = true;
  }

  /** From now on nothing arrives at either side, as if the host of the client had vanished. */
  silence(): void {
    this.#silent = true;
  }

  /** New connections lead to another server; existing ones stay where they are. */
  moveTo(target: { readonly host: string; readonly port: number }): void {
    this.target = target;
  }

  /** Breaks every existing connection. New ones are accepted. */
  cutConnections(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  /** Breaks every connection, and every new one when it is opened. */
  refuseConnections(): void {
    this.#refusing = true;
    this.cutConnections();
  }

  /**
   * Ends every fault. Connections with swallowed responses are cut, because their byte streams are
   * incomplete.
   */
  restore(): void {
    if (this.#swallowing || this.#silent) this.cutConnections();
    this.#swallowing = false;
    this.#refusing = false;
    this.#silent = false;
  }

  async close(): Promise<void> {
    this.refuseConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(client: net.Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    const upstream = net.connect(this.target);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      this.#connections.add(socket);
      // An error is followed by 'close', and a fault on one side must become a fault on the other.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#connections.delete(socket);
        if (!this.#silent) other.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (this.#silent || upstream.write(chunk)) return;
      client.pause();
      upstream.once('drain', () => client.resume());
    });
    client.on('end', () => upstream.end());
    upstream.on('data', (chunk) => {
      if (this.#swallowing || this.#silent) return;
      if (!client.write(chunk)) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
    });
    upstream.on('end', () => {
      if (!this.#silent) client.end();
    });
  }
}
