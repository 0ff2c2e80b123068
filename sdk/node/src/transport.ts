import { createHash, createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ErrorResponse } from '../../../schemas/api/error-response.js';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import { backOffMs, isRetried, retryAfterMs } from '../../shared/retry.js';
import { ServiceError } from '../../shared/service-error.js';
import { signatureText } from '../../shared/signature-text.js';
import type { LedgerOptions } from './options.js';
import { VERSION } from './version.js';

/** Reads the body of a successful response. @throws Error if it is not of the expected form */
export type Parse<T> = (body: unknown) => T;

/** A request to the service. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** Without the query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** JSON of a POST. */
  readonly content?: object | undefined;
  /** Access token. A refused token is replaced once. */
  readonly bearer?: BearerSource | undefined;
  /** Token of a person whose choices are read. It is a header, because addresses are logged. */
  readonly personToken?: string | undefined;
  /** Whether the request carries the API key and, if it is a POST, a signature. False for sign-in. */
  readonly hasKey: boolean;
  /** Whether a successful response is a file, whose bytes are returned as they arrive. */
  readonly isFile?: boolean;
  /**
   * Whether a repeated request would do its work again. It is then only retried after a response that says that nothing
   * was done.
   */
  readonly isUnrepeatable?: boolean;
  /** The longest time that the service needs for its response, in milliseconds, if that is long. */
  readonly takesMs?: number;
}

export interface BearerSource {
  token(): Promise<string>;
  /** Makes `token` return a token other than this one. */
  discard(token: string): void;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Why an attempt has no answer. */
class NoAnswer {
  constructor(readonly cause: unknown) {}
}

/** Form of every API key. The service would refuse a name or a part of one only at the first request. */
const API_KEY = /^svc_(?:live|test)_[A-Za-z0-9_-]{43}$/;
/** Failures that would recur with every attempt: an unknown host, or a certificate that is not trusted. */
const LASTING =
  /^(ENOTFOUND|CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_.+|ERR_SSL_.+)$/;
const DEFAULTS = { attempts: 5, timeoutMs: 30_000, longestWaitMs: 60_000 } as const;
/** Longest timer of Node, in milliseconds. A longer one fires immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Sends requests: signs them, and sends them again by the rules of the specification. */
export class Transport {
  readonly #options: LedgerOptions;
  readonly #baseUrl: string;
  readonly #userAgent: string;
  /** Milliseconds that the clock of the service is ahead of this one. */
  #aheadMs = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    // Refuses an invalid URL before the first request.
    this.#baseUrl = withoutTrailing(new URL(options.baseUrl).href, '/');
    if (!API_KEY.test(options.apiKey))
      throw new TypeError(
        'apiKey must be an API key of Consent Ledger: svc_live_ or svc_test_, and 43 further characters.',
      );
    const names = [options.application, `consent-ledger-node/${VERSION}`, `node/${process.versions.node}`];
    this.#userAgent = names.filter((name) => name !== undefined).join(' ');
  }

  /**
   * Sends a request, with retries, until it has a final response.
   * @throws ServiceError
   */
  async send<T>(request: ServiceRequest, parse: Parse<T>): Promise<T> {
    // Serialised once: each attempt sends the same bytes.
    const body = request.content === undefined ? undefined : JSON.stringify(request.content);
    const { attempts = DEFAULTS.attempts, signal } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const bearer = await request.bearer?.token();
      const answer = await this.#attempt(request, body, bearer);
      const isAnswer = !(answer instanceof NoAnswer);
      if (isAnswer && answer.status < 300) return parsed(answer, parse);
      const error = isAnswer ? errorOf(answer, request) : noAnswer(this.#baseUrl, answer.cause);
      const waitMs = isFinal(request, answer) ? null : this.#waitMs(answer, error.code, attempt);
      if (waitMs === null || attempt >= attempts) throw error;
      if (error.code === 'INVALID_BEARER_TOKEN' && bearer !== undefined) request.bearer?.discard(bearer);
      if (waitMs > 0) await wait(waitMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** @returns milliseconds until the next attempt, or null if the answer is final */
  #waitMs(answer: Answer | NoAnswer, code: string, attempt: number): number | null {
    const backOff = backOffMs(attempt, Math.random());
    if (answer instanceof NoAnswer) return LASTING.test(codeOf(answer.cause)) ? null : backOff;
    if (isRetried(answer.status)) {
      const stated = retryAfterMs(answer.headers.get('retry-after'), Date.now()) ?? backOff;
      return stated > Math.min(this.#options.longestWaitMs ?? DEFAULTS.longestWaitMs, LONGEST_TIMER_MS) ? null : stated;
    }
    // With a new time, nonce or token it is a different request. A second refusal is final.
    if (attempt > 2) return null;
    if (code === 'TIMESTAMP_EXPIRED') return this.#setClock(answer) ? 0 : null;
    return code === 'NONCE_REPLAYED' || code === 'INVALID_BEARER_TOKEN' ? 0 : null;
  }

  /** Follows the service's clock. @returns false if the answer has no time */
  #setClock({ headers }: Answer): boolean {
    const time = Date.parse(headers.get('date') ?? '');
    if (Number.isNaN(time)) return false;
    this.#aheadMs = time - Date.now();
    return true;
  }

  async #attempt(request: ServiceRequest, body: string | undefined, bearer?: string): Promise<Answer | NoAnswer> {
    const { signal } = this.#options;
    const { timeoutMs: givenMs = DEFAULTS.timeoutMs } = this.#options;
    const timeoutMs = Math.min(Math.max(givenMs, request.takesMs ?? 0), LONGEST_TIMER_MS);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      const response = await fetch(this.#baseUrl + request.path + queryText(request.query), {
        method: request.method,
        headers: {
          'User-Agent': this.#userAgent,
          Accept: 'application/json',
          ...(request.hasKey && { 'X-API-Key': this.#options.apiKey }),
          ...(request.personToken !== undefined && { 'X-Person-Token': request.personToken }),
          ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(body !== undefined && request.hasKey && this.#signature(request, body)),
        },
        ...(body !== undefined && { body }),
        // The key and the token must not reach another server, so a redirect is an unexpected response.
        redirect: 'manual',
        signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
      });
      const { status, headers } = response;
      const isFile = request.isFile === true && status === 200;
      return { status, headers, body: isFile ? response.body : jsonOf(await response.text()) };
    } catch (error) {
      signal?.throwIfAborted();
      return new NoAnswer(error);
    } finally {
      // The bytes of a file may take longer to arrive than an answer.
      clearTimeout(timer);
    }
  }

  #signature({ method, path }: ServiceRequest, body: string): Record<string, string> {
    const timestamp = String(Math.floor((Date.now() + this.#aheadMs) / 1000));
    const nonce = randomUUID();
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const text = signatureText({ method, path, timestamp, nonce, bodyHash });
    const signature = createHmac('sha256', this.#options.apiKey).update(text).digest('hex');
    return { 'X-Timestamp': timestamp, 'X-Nonce': nonce, 'X-Signature': signature };
  }
}

/** Returns whether a request that failed may have been carried out, and must not be a second time. */
function isFinal({ isUnrepeatable = false }: ServiceRequest, answer: Answer | NoAnswer): boolean {
  if (!isUnrepeatable) return false;
  return answer instanceof NoAnswer || (answer.status >= 500 && answer.status !== 503);
}

function queryText(query: ServiceRequest['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parsed<T>({ status, body }: Answer, parse: Parse<T>): T {
  try {
    return parse(body);
  } catch {
    throw unexpected(status);
  }
}

function errorOf({ status, body }: Answer, { hasKey, content }: ServiceRequest): ServiceError {
  const error = ErrorResponse.safeParse(body);
  if (!error.success) return unexpected(status);
  const { message, code, errors } = error.data;
  // Without a key, the request is a sign-in.
  const given = (field: string): string => (hasKey === true ? shownValue(content, field) : '');
  const fields = errors?.map(({ field, message: reason }) => `${field} ${reason}${given(field)}`) ?? [];
  return new ServiceError([message, ...fields].join(' '), code, status, errors);
}

const SHOWN_CHARACTERS = 60;

/** The value that was refused, for the developer. A value of a person must not reach a log, and is never returned. */
function shownValue(content: unknown, field: string): string {
  const path = field.split('.');
  if (path.some((name) => PERSONAL_FIELDS.includes(name) || /token|metadata|fields/.test(name))) return '';
  let value = content;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
    value = Reflect.get(value, name);
  }
  const text = typeof value === 'object' ? undefined : JSON.stringify(value);
  return text === undefined ? '' : ` (given: ${text.slice(0, SHOWN_CHARACTERS)})`;
}

function unexpected(status: number): ServiceError {
  const message = `The answer (${status}) is not one of Consent Ledger. Check baseUrl, and proxies in between.`;
  return new ServiceError(message, 'UNEXPECTED_ANSWER', status);
}

/** The code of the failure that ended a request, or an empty text. `fetch` wraps the failure. */
function codeOf(error: unknown): string {
  const inner = error instanceof Error ? (error.cause ?? error) : error;
  return inner instanceof Error && 'code' in inner ? String(inner.code) : '';
}

function noAnswer(baseUrl: string, cause: unknown): ServiceError {
  const code = codeOf(cause);
  return new ServiceError(`No answer came from ${baseUrl}${code === '' ? '' : ` (${code})`}.`, 'NO_ANSWER', 0, [], {
    cause,
  });
}
