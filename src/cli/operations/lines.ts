import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';

const Objects = z.array(z.record(z.string(), z.json()));

/** A response as text: a list as a table of its items, anything else as one line for each member. */
export function linesOf({ data, ...further }: JsonObject): readonly string[] {
  const list = Objects.safeParse(data);
  const { next_cursor: cursor, ...others } = further;
  const rest = Object.keys(others).length === 0 ? [] : membersOf(others);
  const more = typeof cursor === 'string' ? [`There are more: --cursor ${cursor}`] : [];
  if (list.success) return [...(list.data.length === 0 ? ['There are none.'] : tableOf(list.data)), ...rest, ...more];
  const one = z.record(z.string(), z.json()).safeParse(data);
  return [...(one.success ? membersOf(one.data) : [shown(data)]), ...rest];
}

function membersOf(object: JsonObject): readonly string[] {
  const width = Math.max(...Object.keys(object).map((name) => name.length));
  return Object.entries(object).map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`);
}

function tableOf(items: readonly JsonObject[]): readonly string[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = [names, ...items.map((item) => names.map((name) => shown(item[name])))];
  const widths = names.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function shown(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
