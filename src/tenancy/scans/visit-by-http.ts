import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { withAnySignal } from '../../platform/background/signals.js';
import type { EgressPolicy } from '../../platform/net/reach.js';
import { portCheck } from './guarded-proxy.js';
import {
  LIMITS,
  leftDomain,
  noAnswer,
  notLoaded,
  reasonOf,
  ScanFailed,
  type ScanTarget,
  type SetCookie,
  TOO_LONG,
  VISIT_TIMES,
  type Visit,
  type Visitor,
  type VisitPage,
  type VisitTimes,
} from './visit.js';

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly setCookie: readonly string[];
  readonly body: string;
  readonly isWhole: boolean;
}

/**
 * Creates visits without a browser: only the page itself is requested, and no script runs. Cookies come from the
 * response headers, and hosts from the page's HTML.
 */
export function visitByHttp(reach: EgressPolicy, userAgent: string, times: VisitTimes = VISIT_TIMES): VisitPage {
  return (target, visitor, signal) =>
    withAnySignal([signal, AbortSignal.timeout(times.visitMs)], (limit) =>
      follow(target, (url) =>
        get(url, reach, headersOf(userAgent, visitor), { answerMs: times.answerMs, signal: limit }),
      ),
    );
}

/** Requests a page, and the pages to which it redirects. */
async function follow({ url: start, allows }: ScanTarget, request: (url: URL) => Promise<Answer>): Promise<Visit> {
  const cookies = new Map<string, SetCookie>();
  let url = start;
  for (let hop = 0; hop <= LIMITS.redirects; hop += 1) {
    const answer = await request(url);
    for (const line of answer.setCookie) {
      const set = parseSetCookie(line, url.hostname, Date.now());
      if (set !== null) cookies.set(`${set.name};${set.domain};${set.path}`, set);
    }
    if (answer.location === undefined) return visitOf(url, answer, [...cookies.values()]);
    const next = URL.canParse(answer.location, url.href) ? new URL(answer.location, url) : null;
    if (next === null || !allows(next)) throw leftDomain(next?.href ?? '');
    if (next.href.length > LIMITS.urlLength) throw notLoaded(TOO_LONG);
    url = next;
  }
  throw new ScanFailed(`The page redirects more than ${LIMITS.redirects} times.`);
}

function headersOf(userAgent: string, { cookie, isSignalled }: Visitor): Record<string, string> {
  return {
    'user-agent': userAgent,
    accept: 'text/html',
    'accept-encoding': 'identity',
    ...(cookie !== null && { cookie: `${cookie.name}=${cookie.value}` }),
    ...(isSignalled && { 'sec-gpc': '1' }),
  };
}

function visitOf(url: URL, { status, body, isWhole }: Answer, cookies: readonly SetCookie[]): Visit {
  const hosts = [...new Set([url.hostname, ...hostsOf(body, url)])].sort();
  return {
    finalUrl: url.href,
    status,
    cookies: cookies.slice(0, LIMITS.items),
    storage: [],
    hosts: hosts.slice(0, LIMITS.items),
    isComplete: isWhole && hosts.length <= LIMITS.items && cookies.length <= LIMITS.items,
  };
}

/** Requests one URL. @throws ScanFailed */
function get(
  url: URL,
  reach: EgressPolicy,
  headers: Record<string, string>,
  { answerMs, signal }: { readonly answerMs: number; readonly signal: AbortSignal },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(failureOf(error, signal));
    const isPlain = url.protocol === 'http:';
    const check = portCheck(reach, url.port === '' ? (isPlain ? 80 : 443) : Number(url.port));
    try {
      reach.refuseAddress(url.hostname, check);
      // A new connection: a shared one could lead to an address that was not checked.
      const sent = (isPlain ? requestHttp : requestHttps)(url, {
        headers,
        lookup: reach.lookup(check),
        agent: false,
        signal,
        // The time runs from here; `setTimeout` of a request would only start with its connection.
        timeout: answerMs,
      });
      sent.on('timeout', () => sent.destroy(noAnswer(answerMs)));
      sent.on('response', (response) => {
        sent.setTimeout(0);
        read(response).then(resolve, fail);
      });
      sent.on('upgrade', (_response, socket) => {
        socket.destroy();
        fail(new Error('the server upgraded the connection'));
      });
      sent.on('error', fail);
      sent.end();
    } catch (error) {
      fail(error);
    }
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  const setCookie = response.headers['set-cookie'] ?? [];
  const isRedirect = status >= 300 && status < 400 && location !== undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (!isRedirect)
    for await (const chunk of response) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > LIMITS.pageBytes) break;
      chunks.push(part);
    }
  response.destroy();
  return {
    status,
    location: isRedirect ? location : undefined,
    setCookie: setCookie.slice(0, LIMITS.items),
    body: Buffer.concat(chunks).toString('utf8'),
    isWhole: bytes <= LIMITS.pageBytes && setCookie.length <= LIMITS.items,
  };
}

function failureOf(error: unknown, signal: AbortSignal): ScanFailed {
  if (error instanceof ScanFailed) return error;
  if (signal.aborted) return new ScanFailed('The page did not load in time.', { cause: error });
  return notLoaded(reasonOf(error), error);
}

/** Parses a header `Set-Cookie` (RFC 6265 §5.2). @returns null for a cookie that browsers refuse */
export function parseSetCookie(line: string, host: string, now: number): SetCookie | null {
  const [pair = '', ...attributes] = line.split(';');
  const [name = ''] = pair.split('=');
  if (!pair.includes('=') || name.trim() === '') return null;
  const of = new Map(
    attributes.map((attribute): [string, string] => {
      const [key = '', ...value] = attribute.split('=');
      return [key.trim().toLowerCase(), value.join('=').trim()];
    }),
  );
  const domain = (of.get('domain') ?? '').replace(/^\./, '').toLowerCase() || host;
  if (domain !== host && !host.endsWith(`.${domain}`)) return null;
  const path = of.get('path') ?? '';
  return {
    name: name.trim().slice(0, LIMITS.nameLength),
    domain,
    path: path.startsWith('/') ? path.slice(0, LIMITS.nameLength) : '/',
    durationSeconds: durationOf(of, now),
    isHttpOnly: of.has('httponly'),
    isSecure: of.has('secure'),
  };
}

function durationOf(attributes: ReadonlyMap<string, string>, now: number): number | null {
  const age = attributes.get('max-age');
  if (age !== undefined && /^-?\d{1,12}$/.test(age)) return Math.max(0, Number(age));
  const expires = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(expires) ? null : Math.max(0, Math.round((expires - now) / 1000));
}

// Each character is examined a bounded number of times, because the page is untrusted.
const TAG = /<(script|img|iframe|link|source|video|audio|embed|object)\b([^<>]{0,4000})>/gi;
const ADDRESS = /\b(?:src|href|data)\s{0,20}=\s{0,20}["']?([^"'\s>]+)/i;
const REL = /\brel\s{0,20}=\s{0,20}["']?([^"'<>]{0,200})/i;
const LOADED_LINK = /stylesheet|icon|preload|preconnect|dns-prefetch/i;

/** Returns the hosts that the elements of a page load from. */
export function hostsOf(html: string, base: URL): string[] {
  const hosts = new Set<string>();
  for (const [, tag = '', attributes = ''] of html.matchAll(TAG)) {
    if (tag.toLowerCase() === 'link' && !LOADED_LINK.test(REL.exec(attributes)?.[1] ?? '')) continue;
    const address = ADDRESS.exec(attributes)?.[1]?.replaceAll('&amp;', '&');
    if (address === undefined || !URL.canParse(address, base.href)) continue;
    const { protocol, hostname } = new URL(address, base);
    if (/^https?:$/.test(protocol) && hostname.length <= LIMITS.hostLength) hosts.add(hostname);
  }
  return [...hosts];
}
