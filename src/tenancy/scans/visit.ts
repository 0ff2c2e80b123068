/** A cookie that a page has set, without its value, which can identify a visitor. */
export interface SetCookie {
  readonly name: string;
  /** Without a dot at its start. */
  readonly domain: string;
  readonly path: string;
  /** Seconds from now; null: until the browser is closed. */
  readonly durationSeconds: number | null;
  readonly isHttpOnly: boolean;
  readonly isSecure: boolean;
}

/** A name that a page has stored in the browser, other than a cookie. */
export interface StoredName {
  readonly kind: 'local_storage' | 'session_storage' | 'indexed_db';
  readonly name: string;
}

/** Cookies, storage and hosts that one visit to a page found. */
export interface Visit {
  /** The page, after redirects. */
  readonly finalUrl: string;
  /** HTTP status of the page. */
  readonly status: number;
  readonly cookies: readonly SetCookie[];
  readonly storage: readonly StoredName[];
  /** Hosts of all requests, that of the page included. */
  readonly hosts: readonly string[];
  /** False if a bound ended the visit, or left something out. */
  readonly isComplete: boolean;
}

/** A cookie that a visit begins with. */
export interface InitialCookie {
  readonly name: string;
  readonly value: string;
}

/** One visit, with a profile that is used for nothing else. @throws ScanFailed */
export type VisitPage = (target: ScanTarget, cookie: InitialCookie | null, signal: AbortSignal) => Promise<Visit>;

/** A page to visit. */
export interface ScanTarget {
  readonly url: URL;
  /** Whether the page may be at this URL, also after a redirect. */
  readonly allows: (url: URL) => boolean;
}

/** The page could not be visited. The message says why, without anything of an internal network. */
export class ScanFailed extends Error {
  override readonly name = 'ScanFailed';
}

/** A redirect, or a script, leads the page to a place that is not scanned. */
export function leftDomain(url: string): ScanFailed {
  const host = URL.canParse(url) ? new URL(url).host : 'an invalid URL';
  return new ScanFailed(
    `The page leads to ${host.slice(0, 253)}, which is not on the verified domain or has another port. Scan the page where it ends.`,
  );
}
