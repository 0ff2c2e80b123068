import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as z from 'zod';

const Value = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.object({ intValue: z.union([z.int(), z.string()]) }).transform(({ intValue }) => Number(intValue)),
  z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
]);
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));
const Span = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: z.union([z.string(), z.number()]),
  endTimeUnixNano: z.union([z.string(), z.number()]),
  attributes: Attributes,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.object({ code: z.int().default(0) }).default({ code: 0 }),
});
/** An ExportTraceServiceRequest in OTLP's JSON encoding. */
const ExportRequest = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ scope: z.object({ name: z.string() }), spans: z.array(Span) })),
    }),
  ),
});

export type CollectedSpan = z.infer<typeof Span> & { readonly resource: Readonly<Record<string, unknown>> };

/** A trace collector: a real HTTP server that accepts OTLP in JSON. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  /** All received data, as text. */
  text = '';

  private constructor(
    private readonly server: Server,
    private readonly answers: boolean,
  ) {
    server.on('request', (request, response) => void this.#take(request, response));
  }

  /** @param answers false: the collector accepts requests and never responds */
  static async start(answers = true): Promise<Collector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server, answers);
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the collector does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    this.headers.push(request.headers);
    if (!this.answers) return;
    if (request.method !== 'POST' || request.url !== '/v1/traces') {
      response.writeHead(404).end();
      return;
    }
    const text = Buffer.concat(chunks).toString('utf8');
    this.text += text;
    for (const { resource, scopeSpans } of ExportRequest.parse(JSON.parse(text)).resourceSpans) {
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, resource: resource.attributes });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
}
