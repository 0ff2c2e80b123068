import type { StandingText } from './en/page.js';
import type { Texts } from './texts.js';

/**
 * A text that stands on the page.
 * @throws Error if the page names a text that does not exist: the page does not belong to this script
 */
export function standingText({ standing }: Texts['page'], name: string | undefined): string {
  if (!isStanding(standing, name)) throw new Error(`the page has no text ${name}`);
  return standing[name];
}

function isStanding(standing: object, name: string | undefined): name is StandingText {
  return name !== undefined && Object.hasOwn(standing, name);
}
