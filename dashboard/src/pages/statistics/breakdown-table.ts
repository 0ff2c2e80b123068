import type { Breakdown } from '../../api/types.js';
import type { Formats } from '../../i18n/formats.js';
import type { Messages } from '../../i18n/messages.js';

type Row = Breakdown['rows'][number];

/** A table of a month in words: its headings, and the cells of each row, the first of which names it. */
export interface BreakdownTable {
  readonly headings: readonly string[];
  readonly rows: readonly { readonly value: string; readonly cells: readonly string[] }[];
}

const DECISIONS = ['accepted', 'partial', 'rejected', 'withdrawn'] as const;

/** The decisions of a month in words. */
export function tableOf({ by, rows }: Breakdown, messages: Messages, formats: Formats): BreakdownTable {
  const { consents, statistics } = messages;
  const columns = by === 'category' ? (['accepted', 'rejected'] as const) : DECISIONS;
  const hasRate = by !== 'category';
  return {
    headings: [
      statistics.bys[by],
      ...columns.map((decision) => consents.decisions[decision]),
      ...(hasRate ? [statistics.rate] : []),
    ],
    rows: rows.map((row) => ({
      value: row.value,
      cells: [
        nameOf(by, row.value, messages, formats),
        ...columns.map((decision) => countOf(row[decision], messages, formats)),
        ...(hasRate ? [row.acceptance_rate === null ? '–' : formats.percent(row.acceptance_rate)] : []),
      ],
    })),
  };
}

/** A row of one or two months: in each cell the text of the month, and that of the other one. */
interface RowBeside {
  readonly value: string;
  readonly cells: readonly (readonly string[])[];
}

/** The rows of a month, each with what the other month says; then those that only the other one has. */
export function rowsBeside(shown: BreakdownTable, other: BreakdownTable | undefined): readonly RowBeside[] {
  if (other === undefined) return shown.rows.map(({ value, cells }) => ({ value, cells: cells.map((cell) => [cell]) }));
  const values = [...new Set([...shown.rows, ...other.rows].map(({ value }) => value))];
  const find = (table: BreakdownTable, value: string) => table.rows.find((row) => row.value === value)?.cells;
  return values.map((value) => {
    const [now, then] = [find(shown, value), find(other, value)];
    const name = (now ?? then)?.[0] ?? value;
    return {
      value,
      cells: shown.headings.map((_, place) => (place === 0 ? [name] : [now?.[place] ?? '–', then?.[place] ?? '–'])),
    };
  });
}

function countOf(count: Row['accepted'] | null, { statistics }: Messages, { number }: Formats): string {
  if (count === 'fewer_than_10') return statistics.fewer;
  return typeof count === 'number' ? number(count) : statistics.hidden;
}

function nameOf(
  by: Breakdown['by'],
  value: string,
  { consents, statistics }: Messages,
  { languageName }: Formats,
): string {
  if (by === 'language') return languageName(value);
  if (by === 'version') return statistics.version(value.slice(0, 12));
  const names: Readonly<Record<string, string>> =
    by === 'framework' ? consents.laws : by === 'channel' ? consents.channels : {};
  return names[value] ?? value;
}
