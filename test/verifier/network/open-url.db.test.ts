import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { boundedFetch, Unreachable } from '../../../verifier-cli/src/network/bounded-fetch.js';
import { openSource, readWhole, type StructureSource } from '../../../verifier-cli/src/network/structure/source.js';
import { listenWith, type RunningServer } from '../../support/running-witness.js';

const FILE = Buffer.from(Array.from({ length: 400_000 }, (_, i) => i % 251));
const servers: RunningServer[] = [];
let asked: IncomingMessage[] = [];
let waits: number[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** A server that answers the requests one after another, the last answer from then on. */
async function sourceOf(
  answers: readonly ((response: ServerResponse, from: number) => void)[],
  signal?: AbortSignal,
  more: { readonly timeoutMs?: number } = {},
): Promise<StructureSource> {
  asked = [];
  waits = [];
  const server = await listenWith((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request);
    answer?.(response, Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0));
  });
  servers.push(server);
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
  };
  return openSource(`${server.url}/`, { wait, signal, ...more });
}

const busy = (status: number, retryAfter?: string) => (response: ServerResponse) => {
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
};
const whole = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': FILE.length }).end(FILE);
};
const part = (response: ServerResponse, from: number): void => {
  const rest = FILE.subarray(from);
  const headers = { 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}`, 'content-length': rest.length };
  response.writeHead(206, headers).end(rest);
};
/** Ends the connection after some bytes of the answer. */
const cutAfter = (bytes: number) => (response: ServerResponse, from: number) => {
  const rest = FILE.subarray(from);
  const range = { 'content-range': `bytes ${from}-${FILE.length - 1}/${FILE.length}` };
  response.writeHead(from === 0 ? 200 : 206, { ...(from > 0 && range), 'content-length': rest.length });
  response.write(rest.subarray(0, bytes), () => response.socket?.end());
};
const read = async (source: StructureSource) => readWhole(source, 'log/structure/127', FILE.length);
const ranges = () => asked.map(({ headers }) => headers.range ?? null);

test('a busy server is waited for as long as it says, and never called one that withholds', async () => {
  const source = await sourceOf([busy(503, '2'), busy(429, '40'), busy(503, 'Sat, 28 Nov 2026 20:00:00 GMT'), whole]);
  expect(FILE.equals((await read(source)) ?? new Uint8Array())).toBe(true);
  expect(waits).toEqual([2_000, 40_000, 30_000]);
});

test('a server that stays busy is not waited for without end', async () => {
  await expect(read(await sourceOf([busy(503, '300')]))).rejects.toThrow('answered HTTP 503');
  expect(waits).toEqual([300_000, 300_000, 300_000, 300_000, 300_000, 300_000]);
});

test('a server that fails without a time to wait for is unreachable at once', async () => {
  await expect(read(await sourceOf([busy(503)]))).rejects.toThrow(Unreachable);
  expect(asked).toHaveLength(1);
});

test('the end of the auditor ends the waiting', async () => {
  const ending = new AbortController();
  ending.abort();
  await expect(read(await sourceOf([busy(503, '2')], ending.signal))).rejects.toThrow(Unreachable);
  expect(waits).toEqual([]);
});

test('a file that was cut off goes on where it ended', async () => {
  const source = await sourceOf([cutAfter(150_000), cutAfter(100_000), busy(503, '7'), part]);
  expect(FILE.equals((await read(source)) ?? new Uint8Array())).toBe(true);
  expect(ranges()).toEqual([null, 'bytes=150000-', 'bytes=250000-', 'bytes=250000-']);
  expect(waits).toEqual([7_000]);
});

test('a host that knows no ranges sends the file again, of which the rest is read', async () => {
  const source = await sourceOf([cutAfter(150_000), whole]);
  expect(FILE.equals((await read(source)) ?? new Uint8Array())).toBe(true);
  expect(asked).toHaveLength(2);
});

test('a file that brings nothing more, or is another part, ends', async () => {
  await expect(read(await sourceOf([cutAfter(10)]))).rejects.toThrow(Unreachable);
  expect(asked).toHaveLength(3);
  const shifted = (response: ServerResponse, from: number): void => part(response, from + 1);
  await expect(read(await sourceOf([cutAfter(150_000), shifted]))).rejects.toThrow('answered HTTP 206');
  const gone = (response: ServerResponse): void => void response.writeHead(404).end();
  await expect(read(await sourceOf([cutAfter(150_000), gone]))).rejects.toThrow('no longer published');
});

/** Node's `fetch` waits for ever for the end of such an answer. */
const brokenGzip = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip');
};

test('refuses an answer in a content coding that was not asked for, and waits for nothing', async () => {
  const source = await sourceOf([brokenGzip]);
  await expect(source.open('log/checkpoint')).rejects.toThrow(/content coding that was not asked for/);
  expect(asked.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
  const url = new URL(source.name);
  await expect(boundedFetch({ url, timeoutMs: 60_000, maxBytes: 1_000 })).rejects.toThrow(/content coding/);
});

test('a server that drips is not waited for', async () => {
  const drip = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': FILE.length });
    const timer = setInterval(() => response.write('x'), 2);
    response.on('close', () => clearInterval(timer));
  };
  const source = await sourceOf([drip], undefined, { timeoutMs: 50 });
  await expect(read(source)).rejects.toThrow(Unreachable);
});
