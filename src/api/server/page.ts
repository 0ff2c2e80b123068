import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { designTokens } from '../../../schemas/design/tokens.js';
import { escapeHtml } from '../../../schemas/text/escape-html.js';

/** The style of the pages that the service writes itself. They load nothing. */
const STYLE = `
${designTokens('device')}*, *::before, *::after { box-sizing: border-box; }
html { background: var(--page); color: var(--text); font: 100%/1.5 var(--font); -webkit-text-size-adjust: 100%; }
body { margin: 0; padding: 1rem; overflow-wrap: anywhere; }
header, main { max-width: 60rem; margin: 0 auto; }
h1 { margin: 2.5rem 0 0.75rem; font-size: 1.65rem; line-height: 1.2; }
h2 { margin: 0 0 0.5rem; font-size: 1.15rem; line-height: 1.3; }
p { margin: 0 0 0.75rem; }
li { margin: 0.4rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code { font-family: var(--mono); font-size: 0.875em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.brand { font-weight: 700; font-size: 1.1rem; color: var(--text); text-decoration: none; }
.brand::before { content: ""; display: inline-block; width: 0.85em; height: 0.85em; margin-inline-end: 0.45em; border-radius: 0.25em; background: var(--accent); vertical-align: -0.06em; forced-color-adjust: none; }
.lead { max-width: 46rem; font-size: 1.15rem; }
.doors { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 1.25rem; margin: 2rem 0; }
.card { display: flex; flex-direction: column; padding: 1.25rem 1.4rem; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
.card p:last-child { margin: auto 0 0; padding-top: 0.5rem; }
.button { display: inline-block; margin: 0.25rem 0.5rem 0.25rem 0; padding: 0.5rem 0.95rem; border: 1px solid var(--control); border-radius: var(--radius-small); background: var(--surface); color: var(--text); font: inherit; font-weight: 550; line-height: 1.25; text-decoration: none; cursor: pointer; }
.button:hover { background: var(--accent-soft); }
.button-primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button-primary:hover { background: var(--accent-strong); }
.mark { padding: 0.75rem 1rem; border: 2px dashed var(--control); border-radius: var(--radius-small); }
summary { cursor: pointer; font-weight: 600; }
details h2 { margin-top: 1.5rem; }
`;

/** The source of the style, for a policy. */
export const PAGE_STYLE_SOURCE = `'sha256-${toBase64(sha256(utf8(STYLE)))}'`;

/** The policy of a page without a script. */
export const PAGE_POLICY = `default-src 'none'; style-src ${PAGE_STYLE_SOURCE}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

export interface PageParts {
  readonly title: string;
  /** HTML that the service wrote. */
  readonly main: string;
  /** HTML at the end of the head. */
  readonly head?: string;
}

/** A page in the look of the dashboard. @returns the HTML document */
export function pageOf({ title, main, head = '' }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
${head}</head>
<body>
<header><a class="brand" href="/">Consent Ledger</a></header>
<main>
${main}
</main>
</body>
</html>
`;
}
