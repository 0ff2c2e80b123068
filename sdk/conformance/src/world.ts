import type { Device, DeviceStorage } from './adapter.js';
import { ModelBrowser } from './browser.js';
import { VirtualClock } from './clock.js';
import { type Fate, ModelService } from './service.js';
import { configurationOf, type Site } from './site.js';

export const BASE_URL = 'https://consent.example';
export const API_KEY = 'svc_live_x';

/** A request that reached the service, or would have. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Headers;
  /** Empty for a GET. */
  readonly body: string;
}

/** The service and its clock, with the devices that reach it. */
export class World {
  readonly clock = new VirtualClock();
  readonly service = new ModelService(() => this.clock.now);
  /** Oldest first. */
  readonly requests: SeenRequest[] = [];
  site: Site;
  /** What becomes of the next requests. */
  fate: Fate = 'answered';
  /** Milliseconds that the next requests take. */
  delayMs = 0;
  /** Whether the service refuses the key of the site. */
  isKeyRefused = false;
  readonly #ends: (() => void)[] = [];
  #used = 0;

  constructor(site: Site) {
    this.site = site;
  }

  /** Replaces the clock of this process until `end`. */
  begin(): void {
    this.#ends.push(this.clock.install());
  }

  /** Puts back everything that was replaced. */
  end(): void {
    for (const end of this.#ends.splice(0).reverse()) end();
  }

  /** A device that kept nothing yet. @param isSignalled whether it sends the signal now */
  device(isSignalled: () => boolean): Device {
    return {
      baseUrl: BASE_URL,
      apiKey: API_KEY,
      fetch: (url, init) => this.#answer(url, init),
      now: () => this.clock.now,
      isSignalled,
      randomBytes: (count) => this.#randomBytes(count),
      storage: storage(),
      browser: new ModelBrowser(() => this.clock.now),
      during: (work) => this.clock.during(work),
      atEnd: (end) => this.#ends.push(end),
      installClock: (target) => this.#ends.push(this.clock.install(target)),
    };
  }

  /** Numbers that grow: an SDK may take a key from the one half and a reference from the other. */
  #randomBytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let end = count; end > 0; end -= 16) {
      this.#used += 1;
      for (let at = end - 1, rest = this.#used; at >= 0 && rest > 0; at -= 1, rest >>>= 8) bytes[at] = rest & 255;
    }
    return bytes;
  }

  async #answer(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { pathname, searchParams } = new URL(String(input));
    const method = init.method ?? 'GET';
    const body = typeof init.body === 'string' ? init.body : '';
    const headers = new Headers(init.headers);
    // The key of a page may stand in the address of the configuration, in place of the header.
    const key = searchParams.get('key');
    if (key !== null) headers.set('X-API-Key', key);
    searchParams.delete('key');
    const query = searchParams.toString();
    this.requests.push({ method, path: query === '' ? pathname : `${pathname}?${query}`, headers, body });
    if (this.delayMs > 0) await this.clock.wait(this.delayMs);
    if (this.fate === 'away') throw new TypeError('no network');
    const answer = (status: number, content: unknown): Response => new Response(JSON.stringify(content), { status });
    if (this.isKeyRefused) return answer(401, { code: 'INVALID_API_KEY', message: 'The API key is unknown.' });
    switch (pathname) {
      case '/tool/v1/config':
        return answer(200, { data: configurationOf(this.site) });
      case '/tool/v1/consents/status': {
        const token = headers.get('X-Person-Token');
        if (token !== null) {
          const { categories } = configurationOf(this.site);
          const keys = categories.flatMap(({ key, required, rule }) => (required || rule ? [] : key));
          return answer(200, { data: { consents: this.service.accountOf(token, [keys, []]) } });
        }
        const consents = this.service.status(
          searchParams.get('visitor_id') ?? '',
          searchParams.get('consent_type') ?? '',
        );
        return answer(200, { data: { consents } });
      }
      case '/tool/v1/ping':
        return answer(200, { data: { time: new Date(this.clock.now).toISOString() } });
      case '/tool/v1/consents': {
        const { status, acceptance } = this.service.post(body, this.fate);
        if (status === 0) throw new TypeError('no network');
        return answer(status, acceptance ? { data: acceptance } : { code: 'VALIDATION_ERROR', message: 'no' });
      }
      default:
        return answer(404, { code: 'RESOURCE_NOT_FOUND', message: `There is no ${pathname} here.` });
    }
  }
}

function storage(): DeviceStorage {
  const texts = new Map<string, string>();
  return {
    keys: async () => [...texts.keys()],
    get: async (name) => texts.get(name) ?? null,
    set: async (name, text) => {
      texts.set(name, text);
    },
    remove: async (name) => {
      texts.delete(name);
    },
  };
}
