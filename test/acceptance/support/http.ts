import { type ClientRequest, Agent as HttpAgent, type IncomingHttpHeaders, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface Outgoing {
  readonly method: string;
  /** As it is sent, with the query. */
  readonly path: string;
  /** Headers to send, except those that are undefined. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: Uint8Array | string | undefined;
  /** Local address to send from: one of 127.0.0.0/8, honoured where the service is on this machine. */
  readonly from?: string | undefined;
}

export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed, if it is JSON. */
  readonly json: unknown;
}

/** Sends requests to the service's processes in turn, each on a connection of its own, and remembers every answer's head. */
export class HttpClient {
  readonly answers: Answer[] = [];
  readonly #agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };
  #turn = 0;

  constructor(private readonly urls: readonly string[]) {}

  async send(outgoing: Outgoing): Promise<Answer> {
    const url = new URL(this.urls[this.#turn++ % this.urls.length] ?? '');
    const isHere = /^127\./.test(url.hostname) && process.platform === 'linux';
    const headers = Object.fromEntries(
      Object.entries(outgoing.headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const body = outgoing.body === undefined ? null : Buffer.from(outgoing.body);
    if (body !== null) headers['content-length'] = String(body.length);
    const options = {
      method: outgoing.method,
      host: url.hostname,
      port: url.port,
      path: outgoing.path,
      headers: { 'user-agent': 'consent-ledger-acceptance/1', ...headers },
      ...(isHere && outgoing.from !== undefined ? { localAddress: outgoing.from } : {}),
    };
    const request =
      url.protocol === 'https:'
        ? overHttps({ ...options, agent: this.#agents['https:'] })
        : overHttp({ ...options, agent: this.#agents['http:'] });
    const answer = await answerTo(request, body, outgoing);
    this.answers.push(answer);
    return answer;
  }
}

function answerTo(request: ClientRequest, body: Buffer | null, { method, path }: Outgoing): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let hasAnswer = false;
    // A service may refuse a body before it has read it all: the broken connection after its answer is no failure.
    request.on('error', (error) => {
      if (!hasAnswer) reject(error);
    });
    request.on('response', (response) => {
      hasAnswer = true;
      buffer(response).then((bytes) => {
        const text = bytes.toString('utf8');
        const isJson = /^application\/(?:[a-z.]+\+)?json\b/.test(response.headers['content-type'] ?? '');
        resolve({
          method,
          path,
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      }, reject);
    });
    if (body === null) request.end();
    else request.end(body);
  });
}
