import { HostRefused } from '../../platform/net/reach.js';
import { ScanFailed } from './visit.js';

/** Reasons in words, by the codes of Node.js and of Chromium (`net::ERR_…` without its beginning). */
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

/** Says in words why an address was not reached: nothing of an internal network is in them. */
export function reasonOf(error: unknown): string {
  if (error instanceof HostRefused) return error.message;
  const stated = error instanceof Error && 'code' in error ? error.code : error;
  const code = typeof stated === 'string' ? stated.replace(/^net::ERR_/, '') : '';
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'it gave no answer that can be used';
}

/** The failure of a visit whose page was not loaded. @param reason in words */
export function notLoaded(reason: string, cause?: unknown): ScanFailed {
  return new ScanFailed(`The page could not be loaded: ${reason}. It must have a public address and answer.`, {
    cause,
  });
}

/** The failure of a visit whose page did not answer. @param milliseconds for which the visit waited */
export function noAnswer(milliseconds: number): ScanFailed {
  return new ScanFailed(
    `The page did not answer within ${Math.round(milliseconds / 1000)} seconds. Check the address, then scan it again.`,
  );
}
