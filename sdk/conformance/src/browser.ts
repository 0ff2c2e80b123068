/** The part of `document` that holds the cookies. */
interface CookiePage {
  cookie: string;
}

/** The part of `localStorage` that an SDK calls. */
interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly isHostOnly: boolean;
  readonly path: string;
  /** Milliseconds of the browser's clock. */
  readonly expires: number;
}

/** How a browser treats what a page keeps. `full`: nothing new is kept. */
export type Keeping = 'kept' | 'blocked' | 'throws' | 'full';

const MOST_BYTES = 4_096;

/** Cookies as a browser keeps them (RFC 6265 §5.3, §5.4), as far as scripts see them, and storage by origin. */
export class ModelBrowser {
  #cookies: Cookie[] = [];
  /** Names are properties of their own, as in `localStorage`. */
  readonly #storages = new Map<string, TextStorage>();
  cookies: Keeping = 'kept';
  storage: Keeping = 'kept';

  readonly #methods: TextStorage;

  constructor(private readonly now: () => number) {
    const browser = this;
    this.#methods = {
      getItem(name) {
        return Reflect.get(this, name) ?? null;
      },
      setItem(name, text) {
        if (browser.storage === 'full') throw new Error('QuotaExceededError');
        Reflect.set(this, name, text);
      },
      removeItem(name) {
        Reflect.deleteProperty(this, name);
      },
    };
  }

  page({ hostname, pathname }: { readonly hostname: string; readonly pathname: string }): CookiePage {
    const browser = this;
    return {
      get cookie() {
        return browser.#read(hostname, pathname);
      },
      set cookie(text: string) {
        browser.#write(hostname, text);
      },
    };
  }

  storageOf(host: string): () => TextStorage {
    return () => {
      if (this.storage === 'throws' || this.storage === 'blocked') throw new Error('SecurityError');
      const known = this.#storages.get(host);
      if (known !== undefined) return known;
      const made: TextStorage = Object.create(this.#methods);
      this.#storages.set(host, made);
      return made;
    };
  }

  clear(): void {
    this.#cookies = [];
    this.#storages.clear();
  }

  /** Cookies of a name, wherever they are. */
  named(name: string): readonly string[] {
    return this.#cookies.filter((cookie) => cookie.name === name).map(({ value }) => value);
  }

  #read(host: string, path: string): string {
    if (this.cookies === 'throws') throw new Error('SecurityError');
    if (this.cookies === 'blocked') return '';
    this.#cookies = this.#cookies.filter(({ expires }) => expires > this.now());
    return this.#cookies
      .filter((cookie) => (cookie.isHostOnly ? cookie.domain === host : isUnder(host, cookie.domain)))
      .filter((cookie) => isInPath(path, cookie.path))
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #write(host: string, text: string): void {
    if (this.cookies === 'throws') throw new Error('SecurityError');
    if (this.cookies === 'blocked') return;
    const [pair = '', ...attributes] = text.split('; ');
    const attribute = (name: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(name.length + 1);
    const stated = attribute('domain')?.replace(/^\./, '');
    const isPublic = stated !== undefined && !stated.includes('.');
    if (stated !== undefined && (isPublic || !isUnder(host, stated))) return;
    const age = Number(attribute('max-age'));
    const place = { name, domain: stated ?? host, isHostOnly: stated === undefined, path: attribute('path') ?? '/' };
    const isSame = (one: Cookie): boolean =>
      one.name === name &&
      one.domain === place.domain &&
      one.isHostOnly === place.isHostOnly &&
      one.path === place.path;
    if (age > 0 && (pair.length > MOST_BYTES || this.cookies === 'full')) return;
    const kept: Cookie = { ...place, value, expires: this.now() + age * 1000 };
    // A browser keeps the place of a cookie that is written again.
    const index = this.#cookies.findIndex(isSame);
    if (index >= 0) this.#cookies.splice(index, 1, kept);
    else this.#cookies.push(kept);
  }
}

function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function isInPath(path: string, of: string): boolean {
  return path === of || (path.startsWith(of) && (of.endsWith('/') || path.charAt(of.length) === '/'));
}
