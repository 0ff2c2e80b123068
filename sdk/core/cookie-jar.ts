import { cookiePlaces } from './cookie-places.js';
import type { Jar } from './ports.js';

/** The part of `document` that holds the cookies. Both reading and writing throw in a sandboxed frame. */
export interface CookiePage {
  cookie: string;
}

/** The part of `location` that decides which cookies a page can read. */
export interface CookieAddress {
  readonly protocol: string;
  readonly hostname: string;
  readonly pathname: string;
}

/** Browsers shorten longer times (RFC 6265bis §5.5). */
export const MOST_SECONDS = 400 * 86_400;

/**
 * The cookies of a page. Their lifetime is relative, so that a wrong clock of the visitor does not shorten it.
 */
export class CookieJar implements Jar {
  readonly #page: CookiePage;
  readonly #address: CookieAddress;
  readonly #domain: string | undefined;

  /** @param domain domain of the cookies; if undefined, the host of the page */
  constructor(page: CookiePage, address: CookieAddress, domain: string | undefined) {
    this.#page = page;
    this.#address = address;
    this.#domain = domain;
  }

  read(name: string): readonly string[] {
    try {
      return this.#page.cookie
        .split('; ')
        .filter((cookie) => cookie.startsWith(`${name}=`))
        .map((cookie) => cookie.slice(name.length + 1));
    } catch {
      return [];
    }
  }

  /** Deletes the cookies of a name, on every domain and path that the page reaches. */
  forget(name: string): void {
    for (const { path, domain } of cookiePlaces(this.#address)) this.#write(name, '', path, domain, 0);
  }

  keep(name: string, value: string): boolean {
    // A browser refuses a domain that does not match the page.
    for (const domain of new Set([this.#domain, undefined])) {
      this.#write(name, value, '/', domain);
      if (this.read(name).join() === value) return true;
      // Another cookie of this name exists, for another domain or path.
      this.forget(name);
      this.#write(name, value, '/', domain);
      if (this.read(name).includes(value)) return true;
    }
    return false;
  }

  #write(name: string, value: string, path: string, domain: string | undefined, seconds = MOST_SECONDS): void {
    const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${seconds}`, 'SameSite=Lax'];
    if (domain !== undefined) parts.push(`Domain=${domain}`);
    if (this.#address.protocol === 'https:') parts.push('Secure');
    try {
      this.#page.cookie = parts.join('; ');
    } catch {
      // `keep` reads the cookies afterwards, and returns false.
    }
  }
}
