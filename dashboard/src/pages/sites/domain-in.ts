import { withoutTrailing } from '../../../../schemas/text/without-trailing.js';
/** The domain in a text that a user typed, or pasted from the address bar. Another text is returned as it is. */
export function domainIn(text: string): string {
  const typed = text.trim().toLowerCase();
  return /^https?:\/\//.test(typed) && URL.canParse(typed) ? new URL(typed).hostname : withoutTrailing(typed, '/');
}

/**
 * The origins of a site that has pages elsewhere too: those that were typed, after the own ones, without which its own
 * pages could not use the key. None were typed: none, because a key then works on the domain and what is below it.
 */
export function originsOf(domain: string, typed: readonly string[]): string[] {
  if (typed.length === 0) return [];
  const own = [domain, ...(domain.startsWith('www.') ? [] : [`www.${domain}`])].map((host) => `https://${host}`);
  return [...new Set([...own, ...typed])];
}
