import { withoutTrailing } from '../../../../schemas/text/without-trailing.js';
/** The domain in a text that a user typed, or pasted from the address bar. Another text is returned as it is. */
export function domainIn(text: string): string {
  const typed = text.trim().toLowerCase();
  return /^https?:\/\//.test(typed) && URL.canParse(typed) ? new URL(typed).hostname : withoutTrailing(typed, '/');
}
