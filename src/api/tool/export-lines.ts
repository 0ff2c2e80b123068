import type { ExportedErasure, ExportQuery } from '../../../schemas/api/export.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** A record or an erasure, with its place in the order of the export. */
export interface Line {
  readonly content: JsonObject;
  /** The row of CSV and Parquet. */
  readonly cells: JsonObject;
  readonly revision: number;
}

/** The column in which an erasure has its time, and no record has anything. */
export const ERASED_AT = 'erased_at';

/** The line of a record. The cursor is always there: without it a client could not continue. */
export function lineOf(content: JsonObject, revision: number, { fields }: Pick<ExportQuery, 'fields'>): Line {
  const names = fields && new Set<string>([...fields, 'cursor']);
  const wanted = names ? Object.fromEntries(Object.entries(content).filter(([name]) => names.has(name))) : content;
  return { content: wanted, cells: wanted, revision };
}

export function lineOfErasure(content: ExportedErasure, revision: number): Line {
  const { erased_record, announced_at, cursor } = content;
  return { content, cells: { ...erased_record, [ERASED_AT]: announced_at, cursor }, revision };
}

/** Joins two sequences of lines by their revisions. */
export async function* inOrder(
  first: AsyncGenerator<Line, void>,
  second: AsyncGenerator<Line, void>,
): AsyncGenerator<Line, void> {
  try {
    let [a, b] = await Promise.all([first.next(), second.next()]);
    while (a.done !== true || b.done !== true) {
      if (b.done === true || (a.done !== true && a.value.revision < b.value.revision)) {
        if (a.done !== true) yield a.value;
        a = await first.next();
      } else {
        yield b.value;
        b = await second.next();
      }
    }
  } finally {
    await Promise.all([first.return(), second.return()]);
  }
}
