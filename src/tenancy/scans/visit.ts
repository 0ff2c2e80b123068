import * as z from 'zod';
import { LIMITS } from './limits.js';

const Name = z.string().max(LIMITS.nameLength);
const Host = z.string().max(LIMITS.hostLength);

/** A cookie that a page has set, without its value, which can identify a visitor. */
const SetCookie = z.strictObject({
  name: Name,
  /** Without a dot at its start. */
  domain: Host,
  path: Name,
  /** Seconds from now; null: until the browser is closed. */
  durationSeconds: z.int().min(0).nullable(),
  isHttpOnly: z.boolean(),
  isSecure: z.boolean(),
});
export type SetCookie = z.infer<typeof SetCookie>;

/** A name that a page has stored in the browser, other than a cookie. */
const StoredName = z.strictObject({ kind: z.enum(['local_storage', 'session_storage', 'indexed_db']), name: Name });
export type StoredName = z.infer<typeof StoredName>;

/** Cookies, storage and hosts that one visit to a page found. */
export const Visit = z.strictObject({
  /** The page, after redirects. */
  finalUrl: z.url({ protocol: /^https?$/ }).max(LIMITS.urlLength),
  /** HTTP status of the page. */
  status: z.int().min(0).max(999),
  cookies: z.array(SetCookie).max(LIMITS.items),
  storage: z.array(StoredName).max(LIMITS.items),
  /** Hosts of all requests, that of the page included. */
  hosts: z.array(Host).max(LIMITS.items),
  /** False if a bound ended the visit, or left something out. */
  isComplete: z.boolean(),
});
export type Visit = z.infer<typeof Visit>;

/** A cookie that a visit begins with. */
export const InitialCookie = z.strictObject({ name: z.string(), value: z.string() });
export type InitialCookie = z.infer<typeof InitialCookie>;

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
    `The page leads to ${host.slice(0, LIMITS.hostLength)}, which is not on the verified domain or has another port. Scan the page where it ends.`,
  );
}
