import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Fault } from './faults.js';

interface ArmedFault {
  readonly fault: Fault;
  readonly onStop: () => void;
  readonly strike: () => void;
}

/** A time stamp authority as a process sees it over HTTP: requests pass, unless a fault is armed. */
export class AuthorityFront {
  #armed: ArmedFault | null = null;
  /** Requests that the authority has answered with a token. */
  issued = 0;
  /** Whether the next requests get no answer: the connection is closed. */
  isDown = false;

  private constructor(
    private readonly server: Server,
    private readonly authority: string,
  ) {
    server.on('request', (request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
  }

  static async start(authority: string): Promise<AuthorityFront> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AuthorityFront(server, authority);
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the front does not listen');
    return `http://127.0.0.1:${address.port}/`;
  }

  /** Resolves when the fault has hit the next request. @param onStop ends the process that asks */
  arm(fault: Fault, onStop: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#armed = { fault, onStop, strike: resolve };
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (this.isDown) {
      request.socket.destroy();
      return;
    }
    const armed = this.#armed;
    this.#armed = null;
    if (armed?.fault === 'stopped-before') {
      armed.onStop();
      request.socket.destroy();
      armed.strike();
      return;
    }
    const answer = await fetch(this.authority, {
      method: 'POST',
      headers: { 'content-type': request.headers['content-type'] ?? '' },
      body: new Uint8Array(body),
    });
    const token = Buffer.from(await answer.arrayBuffer());
    this.issued += 1;
    if (armed?.fault === 'stopped-after') armed.onStop();
    if (armed?.fault === 'stopped-after' || armed?.fault === 'answer-lost') request.socket.destroy();
    else if (armed?.fault === 'failed-after') response.writeHead(503).end();
    else response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(token);
    armed?.strike();
  }
}
