import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { verifyWebhook, type WebhookEvent } from '../../../sdk/node/src/webhooks.js';
import { until } from '../../support/wait.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that takes messages of webhooks, and keeps them. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Status by path; 200 for others. */
  readonly answers = new Map<string, number>();
  /** Paths that take a message, and never answer. */
  readonly silent = new Set<string>();

  private constructor(
    private readonly server: Server,
    readonly origin: string,
  ) {}

  static async open(): Promise<WebhookReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const receiver = new WebhookReceiver(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      request.on('end', () => {
        const path = request.url ?? '';
        receiver.received.push({ path, headers: request.headers, body });
        if (!receiver.silent.has(path)) response.writeHead(receiver.answers.get(path) ?? 200).end('x'.repeat(100_000));
      });
    });
    return receiver;
  }

  /** What was received at a path. */
  at(path: string): readonly Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** The same, verified. @throws InvalidWebhook */
  eventsAt(path: string, secret: string): readonly WebhookEvent[] {
    return this.at(path).map(({ body, headers }) => verifyWebhook(body, headers, secret));
  }

  async reaches(path: string, count: number): Promise<void> {
    await until(() => this.at(path).length >= count);
  }

  close(): void {
    this.server.close();
  }
}
