// Words and phrases that the project's prose does not use, each with its replacement.

/**
 * @typedef {object} RefusedWord
 * @property {RegExp} pattern looks at one paragraph at a time, whose lines are joined
 * @property {string} useInstead advice on the words to write in its place
 * @property {readonly string[]} refuses sentences in which it is found
 * @property {readonly string[]} [accepts] similar sentences in which no word is found
 */

const NAME_THE_ACTOR = 'name the actor: the client, the operator, the verifier, the service';

/** @type {readonly RefusedWord[]} */
export const REFUSED_WORDS = [
  {
    pattern: /\b(?:nobody|whoever|somebody|anybody|everybody)\b/gi,
    useInstead: NAME_THE_ACTOR,
    refuses: ['Nobody proves to own an address.', 'By whoever holds the lock.', 'Ask somebody, anybody or everybody.'],
    accepts: ['E-mail addresses are not verified, because the service sends no mail.'],
  },
  {
    pattern: /\b(?:judg(?:es?|ed|ing)) again\b/gi,
    useInstead: 'evaluate again, reauthorize',
    refuses: ['It is judged again.'],
  },
  {
    pattern: /\bjudg(?:es?|ed|ing)\b(?! again)/gi,
    useInstead: 'evaluate',
    refuses: ['The request is judged first.'],
  },
  {
    // A server stands behind a proxy.
    pattern: /\bbehind\b(?!(?: \w+){0,2} (?:proxy|proxies|load balancer)\b)/gi,
    useInstead: '"after" for a position in a log, "lags" for a projection, "under" for a reason',
    refuses: ['Nothing is sealed behind it.'],
    accepts: ['The service runs behind a proxy. Behind your own proxies, set TRUSTED_PROXIES.'],
  },
  {
    // Data fit in memory, or into a file.
    pattern: /\b(?:fits|(?:do|does|did|must|to) fit|(?:not|n.t) fit)\b(?! (?:in|into|on)\b)/gi,
    useInstead: '"matches" for a digest or a password, "is compatible with", "suits"',
    refuses: ['E-mail and password do not fit.', 'The digest fits.'],
    accepts: ['Wrong e-mail address or password.', 'The package fits in memory. It states what is missing.'],
  },
  {
    pattern: /\b(?:un)?park(?:s|ed|ing)?\b/gi,
    useInstead: 'quarantined site, quarantine, release',
    refuses: ['The relay parks the site; a parked site waits.'],
  },
  { pattern: /\bupkeep\b/gi, useInstead: 'maintenance', refuses: ['The upkeep of the tables'] },
  {
    // RFC 9727, the AI Catalog and PostgreSQL have these names.
    pattern: /(?<!\b(?:API|AI|system) )\bcatalog(?:ue)?s?\b/gi,
    useInstead: 'tenancy, for tenants, sites, keys, documents and configuration; list, otherwise',
    refuses: ['The catalogue of documents'],
    accepts: ['The API catalogue and the AI catalogue'],
  },
  {
    // RFC 3161 is titled "Time-Stamp Protocol".
    pattern: /\btime-stamp(?:s|ed|ing)?\b(?! Protocol\b)/gi,
    useInstead: '"time stamp" in prose, `timestamp` in identifiers',
    refuses: ['Time-stamps come from a time-stamp authority.'],
    accepts: ['RFC 3161, Internet X.509 Public Key Infrastructure Time-Stamp Protocol (TSP)'],
  },
  {
    pattern: /(?<=^(?:[#>*|\d.-]+ )*|[.:!?|] )What(?: is|['’]s)\b/g,
    useInstead: 'a noun as the subject: "the published content", not "What is published"',
    refuses: ['- What is published can never change.', 'Read it. What is older is erased.'],
  },
  {
    pattern: /\bours\b/gi,
    useInstead: '"of this service", "issued by this service"',
    refuses: ['The token is malformed, expired or not ours.'],
  },
  {
    pattern: /\b(?:has|have) not (?:the|an?)\b/gi,
    useInstead: 'does not have, do not have',
    refuses: ['The user has not the role that the route asks for.'],
    accepts: ['The user does not have a role that this route requires.'],
  },
  {
    pattern: /\bThere is one of this\b/gi,
    useInstead: '"A resource with this name already exists."',
    refuses: ['There is one of this name already.'],
    accepts: ['A resource with this name already exists.'],
  },
  {
    pattern: /\bthe own\b/gi,
    useInstead: 'your, its, their',
    refuses: ['Change the own password'],
    accepts: ['Change your password'],
  },
  {
    pattern: /\bneither of both\b/gi,
    useInstead: 'neither … nor',
    refuses: ['2 wrong usage or neither of both'],
    accepts: ['2: usage error, or the file is neither a package nor a proof'],
  },
  {
    pattern: /\bleft aside\b/gi,
    useInstead: 'ignored',
    refuses: ['"x" is no package, proof of a contradiction, certificate or key of a ledger: it was left aside.'],
    accepts: ['"x" was ignored: it is not a package, a contradiction proof, a certificate or a ledger key.'],
  },
  {
    pattern: /(?<=^(?:[#>*|\d.-]+ )*|[.:!?|] )Say (?:of|for|how|which|whether)\b/g,
    useInstead: 'set, state, document',
    refuses: ['Say for how long personal data of the site’s records is kept'],
    accepts: ['Set the site’s retention period', 'Document preconditions and errors of every exported function'],
  },
];

/**
 * Finds refused words in a text. Paragraphs are separated by empty lines; a phrase is found across a line break.
 * @param {string} text without code, see `proseOfMarkdown`
 * @returns {readonly { word: string, line: number, useInstead: string }[]} lines are counted from 1
 */
export function findRefusedWords(text) {
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

/** Paragraphs, rows of tables, headings and items of lists, each with its first line. */
function paragraphsOf(text) {
  const found = [];
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

function linesBefore(lines, offset) {
  let end = 0;
  const index = lines.findIndex((line) => {
    end += line.length + 1;
    return offset < end;
  });
  return Math.max(index, 0);
}

/** Replaces code, identifiers and addresses in Markdown by nothing, and keeps its lines. */
export function proseOfMarkdown(markdown) {
  return markdown
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '`x`')
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/<?https?:\/\/[^\s>)]*>?/g, 'x');
}

/** @returns {readonly string[]} what the table above does not find in its own examples, or finds without cause */
export function problemsOfTable() {
  return REFUSED_WORDS.flatMap(({ pattern, refuses, accepts = [] }) => [
    ...refuses.filter((text) => text.match(pattern) === null).map((text) => `${pattern} does not refuse: ${text}`),
    ...accepts
      .filter((text) => findRefusedWords(proseOfMarkdown(text)).length > 0)
      .map((text) => `A refused word is found in: ${text}`),
  ]);
}
