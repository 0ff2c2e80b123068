import { backOffMs, isRetried, retryAfterMs } from '../shared/retry.js';
import { ServiceError } from '../shared/service-error.js';
import { signatureText } from '../shared/signature-text.js';
import { type Guard, isText, isUnchecked, objectOf, parseJson } from './guards.js';
import type { Answer, NetworkRequest, Surroundings, Transport } from './ports.js';

const MOST_READS = 4;
/** Longest wait of a visitor for the banner, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** A request without what is the same in all. */
type Sent = Pick<NetworkRequest, 'method' | 'body'> & { readonly headers?: NetworkRequest['headers'] | undefined };
const READ: Sent = { method: 'GET', body: undefined };

/** What became of a request without an answer. */
export const NO_ANSWER: Answer = { status: 0, body: null, retryAfterMs: null };

const isError = objectOf<{ code: string; message: string }>({ code: isText, message: isText });
const isPing = objectOf<{ data: { time: string } }>({ data: objectOf<{ time: string }>({ time: isText }) });

/** The parts of the surroundings that requests need. */
export type ServicePorts = Pick<Surroundings, 'network' | 'cryptography' | 'clock'>;

/** The Tool API as a browser or an app calls it. */
export class Service implements Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #ports: ServicePorts;
  /** Milliseconds that the clock of the service is ahead of this one. */
  #aheadMs = 0;

  constructor(baseUrl: string, apiKey: string, ports: ServicePorts) {
    let url = baseUrl;
    while (url.endsWith('/')) url = url.slice(0, -1);
    this.#baseUrl = url;
    this.#apiKey = apiKey;
    this.#ports = ports;
  }

  /** The address of a page of the service. @param path begins with a slash */
  addressOf(path: string): string {
    return this.#baseUrl + path;
  }

  /** Unix milliseconds, by the clock of the service as far as it is known. */
  now(): number {
    return this.#ports.clock() + this.#aheadMs;
  }

  /**
   * Reads the `data` of a resource. Reads that the service could not answer are repeated; without an
   * answer at all the caller decides.
   * @throws ServiceError
   */
  async get<T>(path: string, guard: Guard<T>, headers?: NetworkRequest['headers']): Promise<T> {
    const isData = objectOf<{ data: T }>({ data: guard });
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#send(path, { ...READ, headers });
      if (answer.status === 200 && isData(answer.body)) return answer.body.data;
      const waitMs = answer.retryAfterMs ?? backOffMs(attempt, Math.random());
      if (!isRetried(answer.status) || attempt === MOST_READS || waitMs > LONGEST_WAIT_MS) throw errorOf(answer);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Sends a signed POST. */
  async post(path: string, body: string): Promise<Answer> {
    const { random, sha256, hmac } = this.#ports.cryptography;
    const timestamp = String(Math.floor(this.now() / 1000));
    const nonce = random(16);
    const text = signatureText({ method: 'POST', path, timestamp, nonce, bodyHash: await sha256(body) });
    return this.#send(path, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-Timestamp': timestamp,
        'X-Nonce': nonce,
        'X-Signature': await hmac(this.#apiKey, text),
      },
    });
  }

  /**
   * Reads the service's time. The response header `Date` is not readable across origins.
   * @returns whether the service responded
   */
  async readClock(): Promise<boolean> {
    const { body } = await this.#send('/tool/v1/ping');
    if (!isPing(body)) return false;
    this.#aheadMs = Date.parse(body.data.time) - this.#ports.clock();
    return true;
  }

  async #send(path: string, request: Sent = READ): Promise<Answer> {
    try {
      const { status, text, retryAfter } = await this.#ports.network({
        ...request,
        url: this.#baseUrl + path,
        headers: { ...request.headers, 'X-API-Key': this.#apiKey },
      });
      return {
        status,
        body: parseJson(text, isUnchecked),
        retryAfterMs: retryAfterMs(retryAfter, this.#ports.clock()),
      };
    } catch {
      return NO_ANSWER;
    }
  }
}

/** The error that an answer states. */
export function errorOf({ status, body }: Answer): ServiceError {
  if (isError(body)) return new ServiceError(body.message, body.code, status);
  if (status !== 0) return new ServiceError(`Unexpected: ${status}`, 'UNEXPECTED_ANSWER', status);
  const message = 'No network, or origin not allowed.';
  return new ServiceError(message, 'NO_ANSWER', 0);
}

/** Whether a later attempt may succeed, because nothing responded or the service could not. */
export function isPassing({ code, status }: ServiceError): boolean {
  return code === 'NO_ANSWER' || isRetried(status);
}
