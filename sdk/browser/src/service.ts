import { type Guard, isText, objectOf } from '../../core/guards.js';
import type { Answer, Transport } from '../../core/ports.js';
import { backOffMs, isRetried, retryAfterMs } from '../../shared/retry.js';
import { ServiceError } from '../../shared/service-error.js';
import { signatureText } from '../../shared/signature-text.js';

const TIMEOUT_MS = 30_000;
const MOST_READS = 4;
/** Longest wait of a visitor for the banner, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;
/**
 * Bytes of a request that may outlive its page. Browsers permit 64 KiB of them at a time, those of
 * other scripts included, and fail the rest (Fetch standard, keepalive).
 */
const MOST_KEPT_ALIVE = 16_384;
/** The service uses no cookies. What was read before is used only if the service confirms it. */
const ALWAYS = { credentials: 'omit', cache: 'no-cache' } as const;
const utf8 = new TextEncoder();

const isError = objectOf<{ code: string; message: string }>({ code: isText, message: isText });
const isPing = objectOf<{ data: { time: string } }>({ data: objectOf<{ time: string }>({ time: isText }) });

/** The Tool API as a browser calls it. */
export class Service implements Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  /** Milliseconds that the clock of the service is ahead of this one. */
  #aheadMs = 0;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#apiKey = apiKey;
  }

  /** Unix milliseconds, by the clock of the service as far as it is known. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /**
   * Reads the `data` of a resource. Reads that the service could not answer are repeated; without an
   * answer at all the caller decides.
   * @throws ServiceError
   */
  async get<T>(path: string, guard: Guard<T>): Promise<T> {
    const isData = objectOf<{ data: T }>({ data: guard });
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#send(path, {});
      if (answer.status === 200 && isData(answer.body)) return answer.body.data;
      const waitMs = answer.retryAfterMs ?? backOffMs(attempt, Math.random());
      if (!isRetried(answer.status) || attempt === MOST_READS || waitMs > LONGEST_WAIT_MS) throw errorOf(answer);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Sends a signed POST. Leaving the page does not end a small one. */
  async post(path: string, body: string): Promise<Answer> {
    const bytes = utf8.encode(body);
    const timestamp = String(Math.floor(this.now() / 1000));
    const nonce = randomHex(16);
    const bodyHash = hex(await crypto.subtle.digest('SHA-256', bytes));
    const key = await crypto.subtle.importKey(
      'raw',
      utf8.encode(this.#apiKey),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    const text = signatureText({ method: 'POST', path, timestamp, nonce, bodyHash });
    return this.#send(path, {
      method: 'POST',
      body,
      keepalive: bytes.length <= MOST_KEPT_ALIVE,
      headers: {
        'Content-Type': 'application/json',
        'X-Timestamp': timestamp,
        'X-Nonce': nonce,
        'X-Signature': hex(await crypto.subtle.sign('HMAC', key, utf8.encode(text))),
      },
    });
  }

  /** Learns the service's time. The response header `Date` is not readable across origins. @returns whether it answered */
  async readClock(): Promise<boolean> {
    const { body } = await this.#send('/tool/v1/ping', {});
    if (!isPing(body)) return false;
    this.#aheadMs = Date.parse(body.data.time) - Date.now();
    return true;
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await fetch(this.#baseUrl + path, {
        ...init,
        headers: { ...init.headers, 'X-API-Key': this.#apiKey },
        ...ALWAYS,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { status, headers } = response;
      // Reading fails where the page is left while the answer arrives: that is no answer, and not a refusal.
      const body = jsonOf(await response.text());
      return { status, body, retryAfterMs: retryAfterMs(headers.get('Retry-After'), Date.now()) };
    } catch {
      return { status: 0, body: null, retryAfterMs: null };
    }
  }
}

/** The error that an answer states. */
export function errorOf({ status, body }: Answer): ServiceError {
  if (isError(body)) return new ServiceError(body.message, body.code, status);
  if (status !== 0) return new ServiceError(`Unexpected answer (${status}).`, 'UNEXPECTED_ANSWER', status);
  const message = 'No answer: the network is away, or the site does not allow this origin.';
  return new ServiceError(message, 'NO_ANSWER', 0);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Random bytes in hex. `crypto.randomUUID` is missing in older browsers. */
export function randomHex(bytes: number): string {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)));
}

function hex(bytes: ArrayBuffer | Uint8Array): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
