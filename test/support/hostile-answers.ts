import { createServer, type Socket } from 'node:net';
import fc from 'fast-check';

/** An answer that a stranger's server gives to a client of the service, as the bytes of its connection. */
export interface HostileAnswer {
  /** In what it differs from a valid answer. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** Cases of an exhaustive run. `npm test` tries a share of them, and all of `knownAnswers`. */
export const HOSTILE_CASES = 10_000;

type Header = readonly [name: string, value: string];

/** The body, as it follows the head; each ends in another way. */
type Body = 'plain' | 'none' | 'chunked' | 'trailer' | 'many trailers' | 'cut chunk' | 'huge chunk' | 'no chunk size';
const BODIES: readonly Body[] = [
  ...(['plain', 'none', 'chunked', 'trailer', 'many trailers'] as const),
  ...(['cut chunk', 'huge chunk', 'no chunk size'] as const),
];

/** Texts before the head. */
const INTERIM = ['', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n'];

const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.10', 'ICY'];
const REASONS = ['OK', '', 'caf\xe9', 'a\tb', 'x'.repeat(5_000), 'a\x00b'];

interface Answer {
  readonly interim: string;
  readonly version: string;
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly Header[];
  readonly body: Body;
}

/** Headers that say how a message is framed, and those of one connection only, with valid and other values. */
const FRAMING: readonly Header[] = [
  ['Content-Length', 'RIGHT'],
  ['Content-Length', '0'],
  ['Content-Length', '1'],
  ['Content-Length', '1000000'],
  ['Content-Length', '99999999999999999999'],
  ['Content-Length', '-1'],
  ['Content-Length', 'many'],
  ['Content-Length', ''],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'identity'],
  ['Transfer-Encoding', 'gzip'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Transfer-Encoding', 'chunked, identity'],
  ['Transfer-Encoding', 'chunked, chunked'],
  ['Transfer-Encoding', ''],
  ['Trailer', 'X-Check'],
  ['Trailer', 'Content-Length, Transfer-Encoding'],
  ['Trailer', ''],
  ['Connection', 'close'],
  ['Connection', 'keep-alive'],
  ['Connection', 'Upgrade'],
  ['Connection', 'Content-Length, Transfer-Encoding, X-Check'],
  ['Keep-Alive', 'timeout=0, max=0'],
  ['Keep-Alive', 'timeout=99999999999'],
  ['Proxy-Connection', 'keep-alive'],
  ['Proxy-Authenticate', 'Basic realm="x"'],
  ['Proxy-Authorization', 'Basic eDp4'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c, foo/2'],
  ['TE', 'trailers'],
  ['Expect', '100-continue'],
  ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
];

/** Other headers that a client reads. */
const OTHERS: readonly Header[] = [
  ['Content-Encoding', 'gzip'],
  ['Content-Type', 'text/html; charset=\xff'],
  ['Content-Range', 'bytes 0-0/0'],
  ['Location', 'http://[::1'],
  ['Location', '\xff\xfe'],
  ['Retry-After', '-1'],
  ['Retry-After', '99999999999999999999'],
  ['Date', 'never'],
  ['Set-Cookie', 'a=\x01\x7f; Max-Age=9e999'],
  ['Link', '</x>; rel=preload'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['X-Latin', '\xe9\xff'],
  ['X-Long', 'x'.repeat(20_000)],
  ['X-Null', 'a\x00b'],
  ['X Space', 'x'],
  ['', 'x'],
  ['\xffName', 'x'],
];

/** A valid answer, of which the grammar makes the others. */
export interface ValidAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

const PLAIN: Omit<Answer, 'status'> = { interim: '', version: 'HTTP/1.1', reason: 'OK', headers: [], body: 'plain' };

/** Answers that have ended a process, and the edges of what a status can be. Every run tries them. */
export function knownAnswers(valid: ValidAnswer): readonly HostileAnswer[] {
  const of = (change: Partial<Answer>) => written(valid, { ...PLAIN, status: valid.status, ...change });
  return [
    ...[0, 1, 99, 100, 101, 102, 103, 199, 204, 205, 304, 599, 600, 999].map((status) => of({ status })),
    of({
      headers: [
        ['Trailer', 'X-Check'],
        ['Content-Length', 'RIGHT'],
      ],
    }),
    of({
      headers: [
        ['Transfer-Encoding', 'identity'],
        ['Trailer', 'X-Check'],
      ],
    }),
    of({ headers: [['Transfer-Encoding', 'chunked']], body: 'trailer' }),
    ...[0, 99, 101, 999].map((status) =>
      of({
        status,
        headers: [
          ['Upgrade', 'websocket'],
          ['Connection', 'Upgrade'],
        ],
      }),
    ),
  ];
}

/**
 * The cases of one run: every status from 0 to 999, each header of a message's frame alone and in pairs,
 * with each body and trailer, and answers that vary all of it at random.
 * @param seed of the part at random
 */
export function hostileAnswers(valid: ValidAnswer, seed: string): readonly HostileAnswer[] {
  const base: Answer = { ...PLAIN, status: valid.status };
  const alone = [...FRAMING, ...OTHERS].map((header) => [header]);
  const pairs = FRAMING.flatMap((one, index) => FRAMING.slice(index).map((other) => [one, other]));
  const systematic: readonly Answer[] = [
    ...Array.from({ length: 1_000 }, (_, status) => ({ ...base, status })),
    ...alone.flatMap((headers) => BODIES.map((body) => ({ ...base, headers, body }))),
    ...pairs.flatMap((headers) =>
      (['plain', 'chunked', 'trailer'] as const).map((body) => ({ ...base, headers, body })),
    ),
  ];
  const random = fc.record({
    interim: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...INTERIM) }),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', ...VERSIONS),
    status: fc.oneof(fc.constant(valid.status), fc.integer({ min: 0, max: 999 })),
    reason: fc.constantFrom('OK', 'OK', ...REASONS),
    headers: fc.array(fc.constantFrom(...FRAMING, ...OTHERS), { maxLength: 5 }),
    body: fc.constantFrom(...BODIES),
  });
  const numRuns = HOSTILE_CASES - systematic.length;
  return [...systematic, ...fc.sample(random, { numRuns, seed: numberOf(seed) })].map((answer) =>
    written(valid, answer),
  );
}

function written(valid: ValidAnswer, { interim, version, status, reason, headers, body }: Answer): HostileAnswer {
  const content = Buffer.from(valid.body);
  const code = String(status).padStart(3, '0');
  const lines = [['Content-Type', valid.contentType] as const, ...headers]
    .map(([name, value]) => `${name}: ${value === 'RIGHT' ? content.length : value}\r\n`)
    .join('');
  const head = Buffer.from(`${interim}${version} ${code} ${reason}\r\n${lines}\r\n`, 'latin1');
  const shown = [interim.slice(9, 12), version, code, reason.slice(0, 9), ...headers.map(shownHeader), `body ${body}`];
  return { name: shown.filter((part) => part !== '').join(' | '), bytes: Buffer.concat([head, framed(content, body)]) };
}

function shownHeader([name, value]: Header): string {
  return JSON.stringify(`${name}: ${value.slice(0, 40)}`);
}

function framed(content: Buffer, body: Body): Buffer {
  const size = content.length.toString(16);
  const chunks = (before: string, after: string) =>
    Buffer.concat([Buffer.from(before), content, Buffer.from(after, 'latin1')]);
  if (body === 'none') return Buffer.alloc(0);
  if (body === 'plain') return content;
  if (body === 'chunked') return chunks(`${size};x=y\r\n`, '\r\n0\r\n\r\n');
  if (body === 'trailer') return chunks(`${size}\r\n`, '\r\n0\r\nX-Check: \xff\r\nContent-Length: 5\r\n\r\n');
  if (body === 'many trailers') return chunks(`${size}\r\n`, `\r\n0\r\n${'X-Check: 1\r\n'.repeat(2_000)}\r\n`);
  if (body === 'cut chunk') return chunks(`${(content.length + 1).toString(16)}\r\n`, '');
  if (body === 'huge chunk') return chunks('ffffffffffffffff\r\n', '\r\n0\r\n\r\n');
  return chunks('zz\r\n', '\r\n0\r\n\r\n');
}

/** A server on loopback that answers each request by bytes that the test gives it, and ends the connection. */
export interface HostileServer {
  readonly port: number;
  /** Sets the answer to every request from now on. */
  say(answer: HostileAnswer): void;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  let said: Buffer = Buffer.alloc(0);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // A client may reset what it refuses.
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      socket.resume();
      socket.end(said);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    say: ({ bytes }) => {
      said = bytes;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** A JSON text that is not what a client expects. */
export interface HostileText {
  readonly name: string;
  /** Number of the valid message that it is in place of. */
  readonly index: number;
  readonly text: string;
}

const OTHER_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, 1e308, '', 'x', '\ud800', '\u0000', '__proto__', 'x'.repeat(3_000)],
  ...[[], [null], [[]], {}, { length: 1 }],
];

/** Texts that are no message at all. */
const NO_MESSAGES: readonly string[] = [
  ...[
    '',
    ' ',
    'null',
    '0',
    '[]',
    '{}',
    '""',
    '{',
    '}',
    '{"id":}',
    'NaN',
    '\ufffd',
    '\ufeff{}',
    '{"__proto__":{"id":1}}',
  ],
  ...['['.repeat(50_000), `${'{"params":'.repeat(5_000)}1${'}'.repeat(5_000)}`, '{"id":1,"id":{}}', '{"id":1e400}'],
];

/**
 * Texts made from valid JSON messages: each member missing, or of another type; two members at a time at
 * random; and texts that are no message.
 * @param seed of the part at random
 */
export function hostileTexts(valid: readonly unknown[], seed: string): readonly HostileText[] {
  const single = valid.flatMap((message, index) =>
    placesOf(message).flatMap((place) => [
      { name: `${index} without ${place.join('.')}`, index, text: changed(message, [{ place, value: undefined }]) },
      ...OTHER_VALUES.map((value) => ({
        name: `${index} with ${place.join('.')} ${JSON.stringify(value).slice(0, 20)}`,
        index,
        text: changed(message, [{ place, value }]),
      })),
    ]),
  );
  const none = NO_MESSAGES.map((text, at) => {
    const index = at % valid.length;
    return { name: `${index} is no message: ${text.slice(0, 20)}`, index, text };
  });
  const random = fc.nat({ max: valid.length - 1 }).chain((index) => {
    const places = placesOf(valid[index]);
    const change = fc.record({ place: fc.constantFrom(...places), value: fc.constantFrom(undefined, ...OTHER_VALUES) });
    return fc.array(change, { minLength: 2, maxLength: 3 }).map((changes) => ({
      name: `${index} with ${changes.map(({ place, value }) => `${place.join('.')} ${String(JSON.stringify(value)).slice(0, 20)}`).join(', ')}`,
      index,
      text: changed(valid[index], changes),
    }));
  });
  const numRuns = Math.max(1, HOSTILE_CASES - single.length - none.length);
  return [...none, ...single, ...fc.sample(random, { numRuns, seed: numberOf(seed) })].slice(0, HOSTILE_CASES);
}

type Place = readonly string[];

/** The places of all members and items of a message. */
function placesOf(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [[key], ...placesOf(member).map((place) => [key, ...place])]);
}

interface Change {
  readonly place: Place;
  /** Undefined: the member is missing. */
  readonly value: unknown;
}

function changed(message: unknown, changes: readonly Change[]): string {
  return JSON.stringify(changes.reduce((now, { place, value }) => withValue(now, place, value), message)) ?? 'null';
}

function withValue(value: unknown, [key, ...rest]: Place, to: unknown): unknown {
  if (key === undefined) return to;
  // An earlier change may have replaced what this one is in.
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? withValue(item, rest, to) : item));
  return { ...value, [key]: withValue(Reflect.get(value, key), rest, to) };
}

/**
 * Runs cases, and returns the names of those after which something was thrown where nothing catches it:
 * in the service, each would end the process.
 * @param run ends once the case is over
 */
export async function endsOfProcess<T extends { readonly name: string }>(
  cases: readonly T[],
  run: (one: T) => Promise<void>,
): Promise<readonly string[]> {
  const found: string[] = [];
  let current = '';
  let endCase = (): void => undefined;
  const note = (error: unknown): void => {
    found.push(`${current}: ${error instanceof Error ? error.message : String(error)}`);
    endCase();
  };
  // Those of the test runner would fail the run without the name of the case.
  const uncaught = process.listeners('uncaughtException');
  const unhandled = process.listeners('unhandledRejection');
  process.removeAllListeners('uncaughtException').on('uncaughtException', note);
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  try {
    for (const one of cases) {
      current = one.name;
      // A case that waits for a process that would have ended waits for ever.
      const thrown = new Promise<void>((resolve) => {
        endCase = resolve;
      });
      await Promise.race([run(one), thrown]);
      // An error of a listener, or of a promise that nobody waits for, is reported by the next turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
    for (const listener of uncaught) process.on('uncaughtException', listener);
    for (const listener of unhandled) process.on('unhandledRejection', listener);
  }
  return found;
}

/** A number for a seed of fast-check. */
function numberOf(seed: string): number {
  return [...seed].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);
}
