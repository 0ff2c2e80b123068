/** A word or phrase that no public text contains. */
export interface RefusedWord {
  readonly pattern: RegExp;
  /** Advice on the words to write in its place. */
  readonly useInstead: string;
}

/** A refused word in a text. */
export interface Finding {
  readonly word: string;
  /** Number of its line in the text, from 1. */
  readonly line: number;
  readonly useInstead: string;
}

const NAME_THE_ACTOR = 'name the actor: the client, the operator, the verifier, the service';

/** Words and phrases that public text avoids. The patterns look at one paragraph at a time, whose lines are joined. */
export const REFUSED_WORDS: readonly RefusedWord[] = [
  { pattern: /\b(?:nobody|whoever|somebody|anybody|everybody)\b/gi, useInstead: NAME_THE_ACTOR },
  { pattern: /\b(?:judg(?:es?|ed|ing)) again\b/gi, useInstead: 'evaluate again, reauthorize' },
  { pattern: /\bjudg(?:es?|ed|ing)\b(?! again)/gi, useInstead: 'evaluate' },
  {
    // A server stands behind a proxy.
    pattern: /\bbehind\b(?!(?: \w+){0,2} (?:proxy|proxies|load balancer)\b)/gi,
    useInstead: '"after" for a position in a log, "lags" for a projection, "under" for a reason',
  },
  {
    // Data fit in memory, or into a file.
    pattern: /\b(?:fits|(?:do|does|did|must|to) fit|(?:not|n.t) fit)\b(?! (?:in|into|on)\b)/gi,
    useInstead: '"matches" for a digest or a password, "is compatible with", "suits"',
  },
  { pattern: /\b(?:un)?park(?:s|ed|ing)?\b/gi, useInstead: 'quarantined site, quarantine, release' },
  { pattern: /\bupkeep\b/gi, useInstead: 'maintenance' },
  {
    // RFC 9727 and the AI Catalog have these names.
    pattern: /(?<!\b(?:API|AI) )\bcatalog(?:ue)?s?\b/gi,
    useInstead: 'tenancy, for tenants, sites, keys, documents and configuration; list, otherwise',
  },
  {
    // RFC 3161 is titled "Time-Stamp Protocol".
    pattern: /\btime-stamp(?:s|ed|ing)?\b(?! Protocol\b)/gi,
    useInstead: '"time stamp" in prose, `timestamp` in identifiers',
  },
  {
    pattern: /(?<=^(?:[#>*|\d.-]+ )*|[.:!?|] )What(?: is|['’]s)\b/g,
    useInstead: 'a noun as the subject: "the published content", not "What is published"',
  },
  { pattern: /\bours\b/gi, useInstead: '"of this service", "issued by this service"' },
  { pattern: /\b(?:has|have) not (?:the|an?)\b/gi, useInstead: 'does not have, do not have' },
  { pattern: /\bThere is one of this\b/gi, useInstead: '"A resource with this name already exists."' },
  { pattern: /\bthe own\b/gi, useInstead: 'your, its, their' },
  { pattern: /\bneither of both\b/gi, useInstead: 'neither … nor' },
  { pattern: /\bleft aside\b/gi, useInstead: 'ignored' },
  {
    pattern: /(?<=^(?:[#>*|\d.-]+ )*|[.:!?|] )Say (?:of|for|how|which|whether)\b/g,
    useInstead: 'set, state, document',
  },
];

/**
 * Finds refused words in a text. Paragraphs are separated by empty lines; a phrase is found across a line break.
 * @param text without code, see `proseOfMarkdown`
 */
export function findRefusedWords(text: string): readonly Finding[] {
  return paragraphsOf(text).flatMap(({ line, lines }) => {
    const joined = lines.join(' ');
    return REFUSED_WORDS.flatMap(({ pattern, useInstead }) =>
      [...joined.matchAll(pattern)].map((match) => ({
        word: match[0],
        line: line + linesBefore(lines, match.index),
        useInstead,
      })),
    );
  });
}

interface Paragraph {
  readonly line: number;
  readonly lines: readonly string[];
}

/** Paragraphs, rows of tables, headings and items of lists, each with its first line. */
function paragraphsOf(text: string): readonly Paragraph[] {
  const found: { line: number; lines: string[] }[] = [];
  let previous = '';
  for (const [index, line] of text.split('\n').entries()) {
    const last = found.at(-1);
    const trimmed = line.trim();
    const continues =
      trimmed !== '' && previous !== '' && !/^(?:[#>|*-]|\d+\.)/.test(trimmed) && !/^[#|]/.test(previous);
    if (continues && last !== undefined) last.lines.push(trimmed);
    else found.push({ line: index + 1, lines: [trimmed] });
    previous = trimmed;
  }
  return found;
}

function linesBefore(lines: readonly string[], offset: number): number {
  let end = 0;
  const index = lines.findIndex((line) => {
    end += line.length + 1;
    return offset < end;
  });
  return Math.max(index, 0);
}

/** Replaces code, identifiers and addresses in Markdown by nothing, and keeps its lines. */
export function proseOfMarkdown(markdown: string): string {
  return markdown
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '`x`')
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/<?https?:\/\/[^\s>)]*>?/g, 'x');
}
