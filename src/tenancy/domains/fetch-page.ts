import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { withAnySignal } from '../../platform/background/signals.js';
import { guarded } from '../../platform/net/guarded.js';
import { HostRefused } from '../../platform/net/reach.js';

/** What a domain answered with status 200. */
export interface FetchedPage {
  readonly kind: 'page';
  /** Media type without parameters, in lower case. Empty if the answer names none. */
  readonly mediaType: string;
  /** The first bytes, one character for each, so that no encoding can hide or show characters. */
  readonly text: string;
  /** Whether `text` is the whole answer. */
  readonly isWhole: boolean;
}

/** Why there is no page: in words that contain nothing that only a machine inside a network could know. */
export interface NoPage {
  readonly kind: 'answered' | 'unreached';
  /** Continues a sentence after “but”. */
  readonly reason: string;
}

/**
 * Requests a page of a domain by HTTPS. Never rejects, unless `signal` aborts.
 * @param path path that begins with a slash
 * @param maxBytes number of bytes that are read at most
 */
export type FetchPage = (
  domain: string,
  path: string,
  maxBytes: number,
  signal?: AbortSignal,
) => Promise<FetchedPage | NoPage>;

export interface FetchPageOptions {
  /** Returns the look-up of a connection, which yields only checked addresses. @throws HostRefused */
  readonly lookupOf: (url: URL) => LookupFunction;
  readonly userAgent: string;
  /** Reports an exception that an answer caused. It ends the request. */
  readonly onCaught: (error: unknown) => void;
  /** Port, certificate authorities and time limit of tests. */
  readonly test?: { readonly port: number; readonly ca: string; readonly timeoutMs: number };
}

/** Time limit from the first look-up to the last byte, redirects included, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const MAX_SHOWN = 253;

/**
 * Creates the request of pages that prove a domain. It follows redirects on the same host alone, sends no cookie and
 * nothing secret, and refuses compressed answers, because a few bytes of them can become any number.
 */
export function createFetchPage(options: FetchPageOptions): FetchPage {
  const { lookupOf, test } = options;
  const timeoutMs = test?.timeoutMs ?? TIMEOUT_MS;
  return async (domain, path, maxBytes, signal = new AbortController().signal) => {
    const start = new URL(path, `https://${domain}`);
    if (test !== undefined) start.port = String(test.port);
    const limit = AbortSignal.timeout(timeoutMs);
    let url = start;
    try {
      for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
        const lookup = lookupOf(url);
        const asked = url;
        const answer = await withAnySignal([signal, limit], (either) =>
          answerOf(asked, { ...options, lookup, maxBytes, signal: either }),
        );
        if ('kind' in answer) return answer;
        const next = redirectOf(answer.location, url, start);
        if (!(next instanceof URL)) return next;
        url = next;
      }
      return answered(`the server redirects more than ${MAX_REDIRECTS} times`);
    } catch (error) {
      if (signal.aborted) throw error;
      return { kind: 'unreached', reason: reasonOf(error, limit.aborted, timeoutMs) };
    }
  };
}

function answered(reason: string): NoPage {
  return { kind: 'answered', reason };
}

/** Returns where a redirect leads, or why it is not followed. */
function redirectOf(location: string, from: URL, start: URL): URL | NoPage {
  const next = URL.canParse(location, from.href) ? new URL(location, from.href) : null;
  if (next === null) return answered('the server redirects to an invalid address');
  if (next.protocol !== 'https:') return answered('the server redirects to an address that is not HTTPS');
  if (next.hostname !== start.hostname)
    return answered(
      `the server redirects to another host (${next.hostname.slice(0, MAX_SHOWN)}), which proves nothing of this one`,
    );
  if (next.port !== start.port) return answered('the server redirects to another port');
  next.username = '';
  next.password = '';
  next.hash = '';
  return next;
}

interface AskOptions extends FetchPageOptions {
  readonly lookup: LookupFunction;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

type Answer = FetchedPage | NoPage | { readonly location: string };

/** Requests one address. Settles in every case. */
function answerOf(url: URL, { lookup, userAgent, maxBytes, signal, onCaught, test }: AskOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = requestHttps(url, {
      headers: { 'user-agent': userAgent, accept: 'text/html, text/plain', 'accept-encoding': 'identity' },
      lookup,
      // A new connection: a shared one could lead to an address that was not checked.
      agent: false,
      ...(test !== undefined && { ca: test.ca }),
    });
    const end = (): void => {
      signal.removeEventListener('abort', abort);
      // The rest of an answer is not needed and could be endless.
      request.destroy();
    };
    const finish = (answer: Answer): void => {
      resolve(answer);
      end();
    };
    const fail = (error: Error): void => {
      reject(error);
      end();
    };
    const abort = (): void => fail(new Error('stopped'));
    signal.addEventListener('abort', abort, { once: true });
    const guard = { end: fail, onCaught };
    const read = (response: IncomingMessage): void => {
      const early = withoutBody(response);
      if (early !== null) {
        finish(early);
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      const page = (isWhole: boolean): void => {
        const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('latin1');
        finish({ kind: 'page', mediaType: mediaTypeOf(response), text, isWhole });
      };
      const take = (chunk: Buffer): void => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) page(false);
      };
      response.on('data', guarded(take, guard));
      response.on(
        'end',
        guarded(() => page(true), guard),
      );
      response.on('error', fail);
    };
    request.on('response', guarded(read, guard));
    const refuseUpgrade = (_response: IncomingMessage, socket: Duplex): void => {
      socket.destroy();
      finish(answered('the server did not answer with a page'));
    };
    request.on('upgrade', guarded(refuseUpgrade, guard));
    request.on('error', fail);
    request.on('close', () => fail(new Error('the connection was closed')));
    if (signal.aborted) abort();
    else request.end();
  });
}

/** Returns what status and headers decide alone, or null for a page that must be read. */
function withoutBody({ statusCode: status = 0, headers }: IncomingMessage): Answer | null {
  const { location, 'content-encoding': encoding = 'identity' } = headers;
  if (status >= 300 && status < 400 && location !== undefined) return { location };
  if (status !== 200) return answered(`the server answered with status ${status}`);
  if (encoding.toLowerCase() !== 'identity')
    return answered('the server compressed its answer, although it was asked not to');
  return null;
}

function mediaTypeOf({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

function reasonOf(error: unknown, isLate: boolean, timeoutMs: number): string {
  if (error instanceof HostRefused) return error.message;
  if (isLate) return `the server did not answer completely within ${timeoutMs / 1000} seconds`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (/CERT|^(?:UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED)/.test(code))
    return `the certificate of the server is not valid (${code.slice(0, 60)})`;
  return `there was no connection (${code.slice(0, 60)})`;
}
