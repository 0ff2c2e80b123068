import type { ReactNode } from 'react';

export interface Column<T> {
  readonly label: string;
  readonly cell: (item: T) => ReactNode;
  /** Whether the cell names the row. The first column does if none is marked. */
  readonly isHeading?: boolean;
  /**
   * Its place in the row of a phone, which has no headings: `top`, beside the cell that names the row;
   * `labelled`, with its heading, because the value alone says too little; `hidden`, because the page of the item
   * has it.
   */
  readonly phone?: 'top' | 'labelled' | 'hidden';
}

interface TableProps<T> {
  /** Name of the listed items, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
}

/** A list as a table; on a small screen each row is a card of few lines. */
export function Table<T>({ label, columns, items, keyOf }: TableProps<T>) {
  const heading = Math.max(
    0,
    columns.findIndex(({ isHeading }) => isHeading === true),
  );
  return (
    <table className="table">
      <caption className="for-readers">{label}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col">
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map((column, index) =>
              index === heading ? (
                <th key={column.label} scope="row" data-label={column.label} data-phone={column.phone}>
                  <div className="cell">{column.cell(item)}</div>
                </th>
              ) : (
                <td key={column.label} data-label={column.label} data-phone={column.phone}>
                  <div className="cell">{column.cell(item)}</div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FactsProps {
  readonly items: readonly (readonly [label: string, value: ReactNode])[];
}

/** Names and values. */
export function Facts({ items }: FactsProps) {
  return (
    <dl className="facts">
      {items.map(([label, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels can repeat, and the order is fixed
        <div key={`${label} ${index}`}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
