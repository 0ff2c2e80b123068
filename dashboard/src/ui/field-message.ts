import type { Messages } from '../i18n/messages.js';

type Words = Messages['fieldMessages'];

/** Problems as the service states them, and the words of the dashboard. */
const PATTERNS: readonly (readonly [pattern: RegExp, words: (words: Words, value: string) => string])[] = [
  [/^must not be empty$/, (words) => words.required],
  [/^must have at least (\d+) characters?; /, (words, count) => words.tooShort(count)],
  [/^must have at most (\d+) characters?; /, (words, count) => words.tooLong(count)],
  [/^must be at least (-?\d+)$/, (words, least) => words.tooSmall(least)],
  [/^must be at most (-?\d+)$/, (words, most) => words.tooBig(most)],
  [/^must have at most (\d+) items?; /, (words, most) => words.tooMany(most)],
  [/^must be a (?:whole )?number\b/, (words) => words.number],
  [/^must (?:be a URL, for example|be an https URL|have neither a user name nor a fragment)/, (words) => words.url],
  [/^must be 1 to \d+ lower-case letters.* for example (\S+)$/, (words, example) => words.shortName(example)],
  [/^must be 1 to 200 visible ASCII characters$/, (words) => words.cookieName],
  [/^has a form that is not permitted/, (words) => words.form],
  [/^must be an e-mail address/, (words) => words.email],
  [/^must be a domain, for example/, (words) => words.domain],
  [/^must be a domain, not an IP address$/, (words) => words.notAddress],
  [/^must be a domain of the public DNS/, (words) => words.publicDomain],
  [/^must be an origin/, (words) => words.origin],
  [/^must be an IP address or a CIDR range$| is no (?:address or )?range[.:]/, (words) => words.address],
  [/^must be a language tag/, (words) => words.languageTag],
  [/^must not consist of spaces only$/, (words) => words.spaces],
  [/^must not repeat the same one to four characters$/, (words) => words.repeated],
  [/^is one of the most common passwords$/, (words) => words.common],
  [/^must not be the e-mail address of the user$/, (words) => words.ownAddress],
  [/^must (?:not contain control characters|be one line without control)/, (words) => words.control],
  [/^is not the current password$/, (words) => words.currentPassword],
  [/^must be the six digits/, (words) => words.code],
  [/^is wrong or was used before/, (words) => words.wrongCode],
  [/^is wrong or too old/, (words) => words.wrongPasskey],
  [/^must (?:be after|not be before) from$/, (words) => words.order],
  [/^there is another service or category (.+)$/s, (words, key) => words.keyTaken(key)],
  [/^must be https:\/\/ and a host in lower case/, (words) => words.plainUrl],
  [/^must be on ([^\s;]+)/, (words, domain) => words.onDomain(domain)],
  [/^this service knows no time zone (\S+);/, (words, zone) => words.timeZone(zone)],
  [/^is missing$/, (words) => words.missing],
  [/^has gaps that are not filled in: (.+)$/s, (words, marks) => words.gaps(marks)],
];

/**
 * A problem of a field in the words of the dashboard, or the text of the service if the dashboard has no words for it.
 */
export function fieldMessage(words: Words, message: string): string {
  for (const [pattern, worded] of PATTERNS) {
    const match = pattern.exec(message);
    if (match !== null) return worded(words, match[1] ?? '');
  }
  return message;
}
