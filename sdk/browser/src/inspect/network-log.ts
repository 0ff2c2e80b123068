import { answerOf, wordsOf } from './words.js';

/** A request to the service, and its answer, in words. */
export interface LoggedRequest {
  readonly request: string;
  readonly answer: string;
  readonly isFailure: boolean;
}

/** Requests of this page to the service: those since the panel was loaded in full, those before as the browser timed them. */
export class NetworkLog {
  readonly entries: LoggedRequest[] = [];
  readonly fetch = window.fetch;
  readonly #origin: string;
  readonly #onEntry: () => void;
  readonly #wrapper: typeof fetch;

  /** @param origin origin of the service @param onEntry called after each answer */
  constructor(origin: string, onEntry: () => void) {
    this.#origin = origin;
    this.#onEntry = onEntry;
    for (const entry of performance.getEntriesByType('resource')) this.#addEarlier(entry);
    this.#wrapper = (input, init = {}) => {
      const answer = this.fetch.call(window, input, init);
      this.#add(input, init, answer).catch(console.error);
      return answer;
    };
    window.fetch = this.#wrapper;
  }

  /** Gives the page its own function back, unless another script replaced it meanwhile. */
  stop(): void {
    if (window.fetch === this.#wrapper) window.fetch = this.fetch;
  }

  #addEarlier(entry: PerformanceEntry): void {
    const url = new URL(entry.name);
    if (url.origin !== this.#origin || !(entry instanceof PerformanceResourceTiming)) return;
    const { responseStatus } = entry;
    this.entries.push({
      request: `earlier: ${url.pathname}`,
      answer: responseStatus > 0 ? `${responseStatus}, ${Math.round(entry.duration)} ms` : 'no status is known',
      isFailure: responseStatus >= 400,
    });
  }

  /** Reads nothing of the request that the page has not given as a text, and a copy of the answer. */
  async #add(input: RequestInfo | URL, init: RequestInit, answering: Promise<Response>): Promise<void> {
    const isRequest = input instanceof Request;
    const url = new URL(isRequest ? input.url : input, location.href);
    if (url.origin !== this.#origin) return;
    const method = init.method ?? (isRequest ? input.method : 'GET');
    const words = typeof init.body === 'string' ? ` ${wordsOf(init.body)}` : '';
    const [status, text] = await answering.then(
      async (response) => [response.status, await response.clone().text()] as const,
      (error: unknown) => [0, String(error)] as const,
    );
    this.entries.push({
      request: `${method} ${url.pathname}${words}`,
      answer: status === 0 ? `no answer: ${text}` : answerOf(status, text),
      isFailure: status === 0 || status >= 400,
    });
    this.#onEntry();
  }
}
