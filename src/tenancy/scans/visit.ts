import * as z from 'zod';
import { guarded } from '../../platform/net/guarded.js';
import { HostRefused } from '../../platform/net/reach.js';

/** Time limits of one visit in milliseconds, which tests shorten. */
export interface VisitTimes {
  /** Time until the page responds. */
  readonly answerMs: number;
  /** Time until the page has loaded. What it has done by then is reported. */
  readonly loadMs: number;
  /** How long scripts may still set something after the page has loaded. */
  readonly settleMs: number;
  /** Time for a whole visit. */
  readonly visitMs: number;
}

export const VISIT_TIMES: VisitTimes = { answerMs: 9_000, loadMs: 12_000, settleMs: 2_000, visitMs: 22_000 };

/** Other limits of one visit. */
export const LIMITS = {
  /** Maximum number of bytes of all responses. */
  bytes: 50_000_000,
  /** Maximum number of bytes of all requests, so that a page cannot use the service to flood others. */
  sentBytes: 5_000_000,
  /** Maximum number of bytes of the page itself if it is loaded without a browser. */
  pageBytes: 2_000_000,
  /** Maximum number of requests, of which a tunnel counts as one. */
  requests: 500,
  /** Maximum number of redirects of the page. */
  redirects: 5,
  /** Number of cookies, of stored names and of hosts that a visit reports. */
  items: 300,
  /** Maximum number of characters of a name. */
  nameLength: 200,
  /** Maximum number of characters of a host. */
  hostLength: 253,
  /** Maximum number of characters of the page's address. */
  urlLength: 8_000,
  /** Maximum number of bytes of one message of the browser. */
  messageBytes: 20_000_000,
} as const;

/** Limits of the process of one visit. */
export interface ProcessLimits {
  /** Time for all work of the process, in milliseconds. The limits of the visit end it before that. */
  readonly processMs: number;
  /** Maximum number of bytes of memory of the process and its browser. */
  readonly memoryBytes: number;
  /** Time between two readings of its memory, in milliseconds. */
  readonly memoryEveryMs: number;
  /** Maximum number of bytes of the response of the process. */
  readonly answerBytes: number;
}

export const PROCESS_LIMITS: ProcessLimits = {
  processMs: VISIT_TIMES.visitMs + 8_000,
  memoryBytes: 1_000_000_000,
  memoryEveryMs: 1_000,
  answerBytes: 2_000_000,
};

/** Longest part of a proof that WebRTC is off, in milliseconds. */
export const PROOF_MS = 15_000;

const Name = z.string().max(LIMITS.nameLength);
const Host = z.string().max(LIMITS.hostLength);

/** A cookie that a page has set, without its value, which can identify a visitor. */
const SetCookie = z.strictObject({
  name: Name,
  /** The domain, without a leading dot. */
  domain: Host,
  path: Name,
  /** Seconds from now, or null if it is stored until the browser is closed. */
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
  /** Hosts of all requests, including that of the page. */
  hosts: z.array(Host).max(LIMITS.items),
  /** False if a limit ended the visit or something was omitted. */
  isComplete: z.boolean(),
});
export type Visit = z.infer<typeof Visit>;

/** A cookie that a visit begins with. */
export const InitialCookie = z.strictObject({ name: z.string(), value: z.string() });
export type InitialCookie = z.infer<typeof InitialCookie>;

/** Who visits a page: the cookie of an earlier choice, and whether the browser sends Global Privacy Control. */
export const Visitor = z.strictObject({ cookie: InitialCookie.nullable(), isSignalled: z.boolean() });
export type Visitor = z.infer<typeof Visitor>;

/** One visit, with a profile that is used for nothing else. @throws ScanFailed */
export type VisitPage = (target: ScanTarget, visitor: Visitor, signal: AbortSignal) => Promise<Visit>;

/** A page to visit. */
export interface ScanTarget {
  readonly url: URL;
  /** Whether the page may be at this URL, including after a redirect. */
  readonly allows: (url: URL) => boolean;
}

/** The page could not be visited. The message says why, without revealing anything about internal networks. */
export class ScanFailed extends Error {
  override readonly name = 'ScanFailed';
}

/** Returns the failure for a redirect or script that leads the page off its domain. */
export function leftDomain(url: string): ScanFailed {
  const host = URL.canParse(url) ? new URL(url).host : 'an invalid URL';
  return new ScanFailed(
    `The page leads to ${host.slice(0, LIMITS.hostLength)}, which is not on the verified domain or has another port. Scan the page where it ends.`,
  );
}

/** Counts untrusted input that the service could not handle. Each such input ended its request, connection or visit. */
export class Faults {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Wraps a listener of an emitter so that it never throws, because an exception in a listener would end the process.
   * @param end ends the request or connection that the event belongs to; it receives what the emitter passed
   */
  guard<A extends readonly unknown[]>(
    listener: (...args: A) => void,
    end: (error: Error, ...args: A) => void,
  ): (...args: A) => void {
    return guarded(listener, {
      end,
      onCaught: () => {
        this.#count += 1;
      },
    });
  }

  /** Counts a fault that was caught elsewhere. */
  add(): void {
    this.#count += 1;
  }
}

/** Readable reasons, by the codes of Node.js and of Chromium (`net::ERR_…` without its beginning). */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/REFUSED$/, 'nothing accepts connections there'],
  [/^(?:ECONNRESET|EPIPE|EMPTY_RESPONSE|CONNECTION_(?:RESET|CLOSED|ABORTED)|HPE_)/, 'the server ended the connection'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ADDRESS_UNREACHABLE)|TIMED_OUT$/, 'the address does not answer'],
  [/CERT|^(?:UNABLE_TO_VERIFY|DEPTH_ZERO|SELF_SIGNED)/, 'its certificate is not valid'],
  [/SSL|TLS|^EPROTO/, 'it does not speak HTTPS'],
  [/^(?:TUNNEL_CONNECTION_FAILED|NAME_NOT_RESOLVED)$/, 'the host has no public address, or does not answer'],
  [/^(?:TOO_MANY_REDIRECTS)$/, 'it redirects too often'],
];

/** Reason of a page whose address is longer than a report takes. */
export const TOO_LONG = 'its address is too long';

/** Says why an address was not reached, without revealing anything about internal networks. */
export function reasonOf(error: unknown): string {
  if (error instanceof HostRefused) return error.message;
  const stated = error instanceof Error && 'code' in error ? error.code : error;
  const code = typeof stated === 'string' ? stated.replace(/^net::ERR_/, '') : '';
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'it gave no answer that can be used';
}

/** The failure of a visit whose page was not loaded. @param reason the reason in words */
export function notLoaded(reason: string, cause?: unknown): ScanFailed {
  return new ScanFailed(`The page could not be loaded: ${reason}. It must have a public address and answer.`, {
    cause,
  });
}

/** The failure of a visit whose page did not answer. @param milliseconds how long the visit waited, in milliseconds */
export function noAnswer(milliseconds: number): ScanFailed {
  return new ScanFailed(
    `The page did not answer within ${Math.round(milliseconds / 1000)} seconds. Check the address, then scan it again.`,
  );
}

const FaultCount = z.int().min(0);

/** The work of a process of scans: one visit, or one part of the proof that the browser keeps to its proxy. */
export const ScanJob = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('visit'),
    url: z.url({ protocol: /^https?$/ }),
    /** Verified domain that the page must stay on, and whether its subdomains are a part of it. */
    proved: z.strictObject({ domain: z.string(), coversSubdomains: z.boolean() }),
    visitor: Visitor,
    /** Null if the page is requested over plain HTTP. */
    chromePath: z.string().nullable(),
    /** Non-public networks that may still be reached, on any port. */
    allowedNetworks: z.array(z.string()),
    userAgent: z.string(),
  }),
  z.strictObject({ kind: z.literal('stun'), chromePath: z.string(), isGuarded: z.boolean() }),
]);
export type ScanJob = z.infer<typeof ScanJob>;

/** The only message of the process. A page influences much of its content. */
export const ScanAnswer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('visited'), visit: Visit, faults: FaultCount }),
  z.strictObject({ kind: z.literal('asked'), isPacket: z.boolean(), faults: FaultCount }),
  /** The page could not be visited; the message is for the user. */
  z.strictObject({ kind: z.literal('failed'), message: z.string().max(2_000), faults: FaultCount }),
  /** An error of the program: its name and places, without its message, which can quote the page. */
  z.strictObject({ kind: z.literal('broken'), at: z.string().max(2_000), faults: FaultCount }),
]);
export type ScanAnswer = z.infer<typeof ScanAnswer>;
