import { setTimeout as delay } from 'node:timers/promises';
import { NO_CODING, refuseCoding, Unreachable } from '../bounded-fetch.js';

export interface HttpOptions {
  /** Bearer token for a structure that is restricted to auditors. */
  readonly token?: string | undefined;
  /** Time limit, in milliseconds, for the next `LEAST_PROGRESS` bytes or the rest of the file. */
  readonly timeoutMs: number;
  /** Ends requests, and also the wait for a busy server. */
  readonly signal?: AbortSignal | undefined;
  /** Waits until the time is over or `signal` is aborted. Tests replace it with a counter. */
  readonly wait?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/**
 * Limits of the wait for a busy server, in milliseconds: the wait if the server states no time, the longest single
 * wait, and the longest total wait for one response.
 */
const DEFAULT_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 300_000;
const ALL_WAITS_MS = 1_800_000;
/**
 * Number of bytes that must arrive in each `timeoutMs`, so that a server cannot delay an auditor by sending very
 * slowly. A response that ends after fewer bytes counts as a failure, and several failures end the download.
 */
const LEAST_PROGRESS = 64 * 1024;
const MOST_FAILURES = 3;

/**
 * Opens a file at a service or a static host. While the server says that it is busy (429 or 503 with Retry-After), it
 * waits, because a rate limit is not a refusal to publish. An interrupted download resumes where it ended (RFC 9110
 * §14), so that a large file arrives even over an unstable connection.
 * @returns its bytes in pieces, or null if it is not published
 * @throws Unreachable, including while the pieces are read
 */
export async function openUrl(url: string, options: HttpOptions): Promise<AsyncIterable<Uint8Array> | null> {
  const first = await ask(options, url, 0);
  return first === null ? null : wholeFile(options, url, first);
}

/** A response with the bytes of the file from some offset. */
interface Answer {
  readonly offset: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** @returns null if the file is not published @throws Unreachable */
async function ask(options: HttpOptions, url: string, from: number): Promise<Answer | null> {
  const { token, timeoutMs, signal, wait = waitFor } = options;
  const headers: Record<string, string> = {
    ...NO_CODING,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(from > 0 && { range: `bytes=${from}-` }),
  };
  for (let waited = 0; ; ) {
    const timer = idleTimer(timeoutMs);
    const until = AbortSignal.any([timer.signal, ...(signal ? [signal] : [])]);
    const response = await fetch(url, { redirect: 'manual', signal: until, headers }).catch((error: unknown) => {
      timer.end();
      throw unreachable(url, error);
    });
    const { status, body } = response;
    try {
      refuseCoding(response, url);
    } catch (error) {
      timer.end();
      throw error;
    }
    if (status === 200) return { offset: 0, pieces: piecesOf(body ?? [], url, timer) };
    if (status === 206 && from > 0) {
      if (response.headers.get('content-range')?.startsWith(`bytes ${from}-`) === true)
        return { offset: from, pieces: piecesOf(body ?? [], url, timer) };
    }
    timer.end();
    await body?.cancel();
    if (status === 404 || status === 410) return null;
    const ms = waitOf(response);
    if (ms === null || waited + ms > ALL_WAITS_MS || signal?.aborted === true)
      throw new Unreachable(`${url} answered HTTP ${status}`);
    await wait(ms, signal);
    waited += ms;
  }
}

/** @returns milliseconds, or null if the server does not say that another attempt is worthwhile */
function waitOf({ status, headers }: Response): number | null {
  const retryAfter = headers.get('retry-after');
  if (retryAfter === null || (status !== 429 && status !== 503)) return null;
  const isSeconds = /^\d{1,9}$/.test(retryAfter);
  return isSeconds ? Math.min(LONGEST_WAIT_MS, Math.max(1, Number(retryAfter)) * 1000) : DEFAULT_WAIT_MS;
}

async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // An aborted wait also ends here; the caller checks the signal.
  await delay(ms, undefined, signal && { signal }).catch(() => undefined);
}

async function* wholeFile(options: HttpOptions, url: string, first: Answer): AsyncGenerator<Uint8Array, void> {
  let at = 0;
  let answer: Answer | null = first;
  for (let failures = 0; answer !== null; ) {
    const begun = at;
    let skip = at - answer.offset;
    try {
      for await (const piece of answer.pieces) {
        const rest = piece.subarray(Math.min(skip, piece.length));
        skip -= piece.length - rest.length;
        at += rest.length;
        if (rest.length > 0) yield rest;
      }
      return;
    } catch (error) {
      failures = at - begun < LEAST_PROGRESS ? failures + 1 : 0;
      if (failures === MOST_FAILURES || options.signal?.aborted === true) throw error;
    }
    answer = await ask(options, url, at);
  }
  throw new Unreachable(`${url} is no longer published, though a part of it was read`);
}

interface IdleTimer {
  readonly signal: AbortSignal;
  restart(): void;
  end(): void;
}

function idleTimer(ms: number): IdleTimer {
  const stopping = new AbortController();
  const start = () => setTimeout(() => stopping.abort(), ms);
  let timer = start();
  const end = (): void => clearTimeout(timer);
  const restart = (): void => {
    end();
    timer = start();
  };
  return { signal: stopping.signal, restart, end };
}

async function* piecesOf(
  source: AsyncIterable<unknown> | Iterable<unknown>,
  url: string,
  timer: IdleTimer,
): AsyncGenerator<Uint8Array, void> {
  let arrived = 0;
  try {
    for await (const piece of source) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('a file is made of bytes');
      arrived += piece.length;
      if (arrived >= LEAST_PROGRESS) {
        arrived = 0;
        timer.restart();
      }
      yield piece;
    }
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    timer.end();
  }
}

function unreachable(url: string, error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new Unreachable(`${url} cannot be read: ${cause instanceof Error ? cause.message : 'unknown error'}`);
}
