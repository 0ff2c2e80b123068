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
