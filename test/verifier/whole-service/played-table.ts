import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/threat-model.md', import.meta.url));
const BEGIN = '<!-- begin of the play -->\n';
const END = '<!-- end of the play -->';

/** One observation of the play: who looks at an act, and what this party finds. */
export interface Observation {
  /** The act, with what the operator did. */
  readonly act: string;
  readonly who: string;
  /** Files or answers that the party has. */
  readonly from: string;
  /** Earliest time at which it can be noticed. */
  readonly when: string;
  /** Verdict and checks, as found; `-`: nothing was noticed. */
  readonly found: string;
}

export function tableOf(observations: readonly Observation[]): string {
  return `| Act | Who looks | From | When | Finds |\n| --- | --- | --- | --- | --- |\n${rowsOf(observations)}`;
}

/** Rows of the table. An act is named in its first row. */
export function rowsOf(observations: readonly Observation[]): string {
  const rows = observations.map(({ act, who, from, when, found }, i) => {
    const shown = observations[i - 1]?.act === act ? '' : act;
    return `| ${shown} | ${who} | ${from} | ${when} | ${found} |`.replaceAll('|  |', '| |');
  });
  return [...rows, ''].join('\n');
}

/** Reads the table from docs/threat-model.md. */
export function documentedTable(): string {
  const [, after = ''] = readFileSync(PAGE, 'utf8').split(BEGIN);
  return after.split(END)[0] ?? '';
}

/** Writes the table into docs/threat-model.md. */
export function documentTable(table: string): void {
  const text = readFileSync(PAGE, 'utf8');
  const [before = '', after = ''] = text.split(BEGIN);
  writeFileSync(PAGE, `${before}${BEGIN}${table}${END}${after.split(END)[1] ?? ''}`);
}
