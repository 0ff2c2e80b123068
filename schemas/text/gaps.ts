/**
 * A gap of a template, for example `[[who: name of the company]]`. The words before the colon are the same in every
 * language. A gap of which only a part was deleted still begins like this, and an editor may have escaped its brackets,
 * or changed a space or a capital.
 */
const GAP = /\\?\[\\?\[\s?(?:who|what|recipients|periods|rights|contact)\s?:[^[\]\n]{0,200}\]{0,2}/gi;

/**
 * The gaps of a text that nobody has filled in, each once. A text that has to name a gap itself writes `[&#91;who:` in
 * Markdown and HTML, or a space between the brackets.
 */
export function gapsIn(text: string): readonly string[] {
  return [...new Set(text.match(GAP) ?? [])];
}

/** Maximum number of gaps that a message names. */
const MOST_NAMED = 6;

/** What is wrong with a text that has these gaps. */
export function gapProblem(gaps: readonly string[]): string {
  const more = gaps.length > MOST_NAMED ? ', …' : '';
  return `has gaps that are not filled in: ${gaps.slice(0, MOST_NAMED).join(', ')}${more}`;
}
