import { type Choice, isChoice } from '../../core/choice.js';
import { parseJson } from '../../core/guards.js';

const NAME = '_svc_consent';
/** Browsers shorten longer times (RFC 6265bis §5.5). */
const MOST_DAYS = 400;

/** Reads the choice from the cookies of the page. @returns null without a valid one */
export function readCookie(): Choice | null {
  const value = document.cookie
    .split('; ')
    .find((cookie) => cookie.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);
  return value === undefined ? null : (parseJson(decoded(value), isChoice) ?? null);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}

/**
 * Keeps a choice in the cookie; null deletes it. Its age is relative, so that a wrong clock of the
 * visitor does not shorten it.
 * @param days how long the choice is valid; null: without an end
 */
export function writeCookie(choice: Choice | null, days: number | null, domain: string | undefined): void {
  const seconds = choice === null ? 0 : Math.min(days ?? MOST_DAYS, MOST_DAYS) * 86_400;
  const parts = [
    `${NAME}=${choice === null ? '' : encodeURIComponent(JSON.stringify(choice))}`,
    'Path=/',
    `Max-Age=${seconds}`,
    'SameSite=Lax',
  ];
  if (domain !== undefined) parts.push(`Domain=${domain}`);
  if (location.protocol === 'https:') parts.push('Secure');
  // The Cookie Store API is not in every supported browser.
  // biome-ignore lint/suspicious/noDocumentCookie: see above
  document.cookie = parts.join('; ');
}
