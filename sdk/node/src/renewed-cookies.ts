import { readChoice } from '../../core/choice-text.js';
import { MOST_SECONDS } from '../../core/cookie-jar.js';
import { readVisitors } from '../../core/visitor.js';

export interface RenewalRequest {
  /** The header `Cookie` of the request. */
  readonly cookie: string | undefined;
  /**
   * The header `Host` of the request, with or without a port. HTTP/2 has none; then only the browser checks the domain
   * against its host, which it does anyway.
   */
  readonly host: string | undefined;
  /**
   * Domain of the cookies, as the pages state it (`data-cookie-domain`), in any case, with or without a leading period;
   * if omitted, the host alone.
   */
  readonly cookieDomain?: string | undefined;
  /** Whether the pages use `https:`; if omitted, true. */
  readonly isSecure?: boolean | undefined;
}

/** Largest cookie that browsers store, in bytes (RFC 6265 §6.1). */
const MOST_BYTES = 4_096;
/** The page looks for the mark as soon as the response has come. */
const MARK_SECONDS = 60;
/** Permitted octets of a cookie (RFC 6265 §4.1.1). Other octets never get into a header of the response. */
const OCTETS = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;
const TOKEN = /^ct_(?:test_)?[0-9a-f]{32}$/;

/**
 * Returns the values of `Set-Cookie` that keep the cookies of the browser SDK for 400 days, since some browsers keep
 * what scripts write for seven days only. The values of the cookies stay as they are: no choice is made, changed or
 * prolonged, and one whose period is over permits nothing.
 * @returns empty unless the request has one choice that the service has accepted, an opt-out or an objection, and
 *   `cookieDomain` is a domain of the host; the last one tells the page that they came
 * @throws RangeError if `cookieDomain` is not a domain
 */
export function renewedCookies({
  cookie = '',
  host,
  cookieDomain,
  isSecure = true,
}: RenewalRequest): readonly string[] {
  const valuesOf = (name: string): readonly string[] =>
    cookie.split(/; ?/).flatMap((pair) => (pair.startsWith(`${name}=`) ? pair.slice(name.length + 1) : []));
  const [choice = '', ...others] = valuesOf('_svc_consent');
  // If there are several choices, the page knows which one counts, and deletes the others.
  const domain = cookieDomain === undefined ? undefined : domainOf(cookieDomain);
  if (others.length > 0 || !isLasting(choice) || !isOf(host, domain)) return [];
  const lasting = (maxAge: number) =>
    `; Path=/; Max-Age=${maxAge}; SameSite=Lax${domain === undefined ? '' : `; Domain=${domain}`}${isSecure ? '; Secure' : ''}`;
  const attributes = lasting(MOST_SECONDS);
  const visitors = valuesOf('_svc_visitor');
  const renewed = [
    `_svc_consent=${choice}${attributes}`,
    ...(visitors.length === 1 && readVisitors(visitors).length === 1
      ? [`_svc_visitor=${visitors[0]}${attributes}`]
      : []),
  ].filter((one) => one.length <= MOST_BYTES);
  return renewed.length === 0 ? [] : [...renewed, `_svc_renewed=1${lasting(MARK_SECONDS)}`];
}

/** Whether the text of a cookie is a choice that is to last. */
function isLasting(text: string): boolean {
  const choice = OCTETS.test(text) ? readChoice(text) : null;
  if (choice === null) return false;
  const { opt_out, exempt = {}, isVoid, consent_token = '' } = choice;
  return opt_out !== undefined || Object.values(exempt).includes(false) || (!isVoid && TOKEN.test(consent_token));
}

/** The domain as browsers read it (RFC 6265 §5.2.3). @throws RangeError */
function domainOf(text: string): string {
  const domain = text.toLowerCase().replace(/^\./, '');
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return domain;
  throw new RangeError('cookieDomain must be a domain, such as shop.example.');
}

/** Whether a cookie of this domain can be set by this host (RFC 6265 §5.1.3). */
function isOf(host: string | undefined, domain: string | undefined): boolean {
  const name = host?.toLowerCase().replace(/:\d*$/, '');
  return domain === undefined || name === undefined || `.${name}`.endsWith(`.${domain}`);
}
