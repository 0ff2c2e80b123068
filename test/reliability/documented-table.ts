import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url));

/** A table in Markdown. */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The cells of each row of a table in Markdown, without its heads. */
export function cellsOf(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '));
}

/** The table below a heading of docs/reliability.md. @throws Error if there is none */
export function documentedTable(heading: string): string {
  return parts(heading).table;
}

/** Replaces the table below a heading of docs/reliability.md. @throws Error if there is none */
export function documentTable(heading: string, table: string): void {
  const { before, after } = parts(heading);
  writeFileSync(PAGE, before + table + after);
}

function parts(heading: string): { readonly before: string; readonly table: string; readonly after: string } {
  const text = readFileSync(PAGE, 'utf8');
  const start = text.indexOf(`\n### ${heading}\n`);
  const from = text.indexOf('\n|', start) + 1;
  if (start < 0 || from === 0) throw new Error(`docs/reliability.md has no table below “${heading}”`);
  const end = text.slice(from).search(/\n(?!\|)/);
  const to = end < 0 ? text.length : from + end;
  return { before: text.slice(0, from), table: text.slice(from, to), after: text.slice(to) };
}
