import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer in place of the service's own, without a body if it has no code; `lost`: the service answers, and the answer is dropped; `cut`: only its head arrives. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly code?: string }
  | 'lost'
  | 'cut';

/** A proxy in front of the real service that injects faults. */
export class FaultyFront {
  /** Bodies of the consents that arrived, with their headers. */
  readonly received: { readonly body: string; readonly headers: IncomingMessage['headers']; readonly path: string }[] =
    [];
  /** Headers that the proxy adds to requests. */
  readonly added: Record<string, string> = {};
  readonly #faults: Fault[] = [];
  readonly #readFaults: Fault[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async open(target: string): Promise<FaultyFront> {
    const server = createServer();
    const front = new FaultyFront(server, target);
    server.on('request', (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const body = Buffer.concat(chunks);
        const path = incoming.url ?? '/';
        const isPost = incoming.method === 'POST';
        if (isPost) front.received.push({ body: body.toString('utf8'), headers: incoming.headers, path });
        const faults = isPost ? front.#faults : incoming.method === 'GET' ? front.#readFaults : [];
        const fault = path.startsWith('/tool/') ? faults.shift() : undefined;
        if (fault !== undefined && fault !== 'lost' && fault !== 'cut') {
          const origin = incoming.headers.origin;
          response.writeHead(fault.status, {
            'content-type': 'application/json',
            ...(origin !== undefined && { 'access-control-allow-origin': origin }),
            'access-control-expose-headers': 'Retry-After',
            ...fault.headers,
          });
          const { code } = fault;
          const error = { message: 'injected', code, error_code: code, error: { code, message: 'injected' } };
          response.end(code === undefined ? '' : JSON.stringify(error));
          return;
        }
        const { host, ...headers } = incoming.headers;
        const outgoing = request(
          front.target + path,
          { method: incoming.method, headers: { ...headers, ...front.added } },
          (answer) => {
            if (fault === 'lost') {
              answer.resume().on('end', () => response.destroy());
              return;
            }
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            if (fault === 'cut') {
              response.flushHeaders();
              answer.resume().on('end', () => setTimeout(() => response.destroy(), 50));
              return;
            }
            answer.pipe(response);
          },
        );
        outgoing.on('error', () => response.destroy());
        outgoing.end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get url(): string {
    const address: AddressInfo | string | null = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The next POSTs to the Tool API get these. */
  inject(...faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  /** The next GETs of the Tool API get these. */
  injectReads(...faults: readonly Fault[]): void {
    this.#readFaults.push(...faults);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
