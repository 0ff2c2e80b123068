import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Queryable } from './pool.js';
import { readObjects, type SchemaObjects } from './schema-objects.js';

/** One difference between the schema of a database and the one that the migrations make. */
export interface SchemaDifference {
  /** Table, view, function, type, role or schema. */
  readonly object: string;
  /** For example `index sites_domain`; empty: the whole object. */
  readonly part: string;
  /** The end of a sentence about the part: `is missing`. */
  readonly detail: string;
}

const File = z.record(z.string(), z.record(z.string(), z.string()));

/**
 * Returns the schema that the migrations make. A test compares the file with a new database, and writes it.
 * @throws any error of reading the file, which is part of the program
 */
function wantedObjects(): SchemaObjects {
  const text = readFileSync(new URL(`./migrations/${SCHEMA_FILE}`, import.meta.url), 'utf8');
  return new Map(
    Object.entries(File.parse(JSON.parse(text))).map(([name, parts]) => [name, new Map(Object.entries(parts))]),
  );
}

/** Name of the file beside the migrations. */
export const SCHEMA_FILE = 'schema.json';

/** Returns the text of `schema.json`, in the order of the names. */
export function schemaText(objects: SchemaObjects): string {
  const sorted = (map: ReadonlyMap<string, unknown>) =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  const parts = new Map([...objects].map(([name, own]) => [name, sorted(own)]));
  return `${JSON.stringify(sorted(parts), null, 2)}\n`;
}

/**
 * Compares the schema of a database with the one that the migrations of this program make.
 * @param db in any role
 */
export async function compareSchema(db: Queryable): Promise<readonly SchemaDifference[]> {
  return differencesOf(wantedObjects(), await readObjects(db));
}

/**
 * Returns each difference once: of an object that is missing, only the object. What was added counts where
 * it can act on the service: in an object of the service, beside a function of the same name, and in the schema
 * `event_log`.
 */
function differencesOf(wanted: SchemaObjects, found: SchemaObjects): readonly SchemaDifference[] {
  const functions = new Set([...wanted.keys()].flatMap((name) => functionOf(name) ?? []));
  const isOwn = (object: string): boolean => object.startsWith('event_log.') || functions.has(functionOf(object) ?? '');
  const added = [...found.keys()].filter((object) => !wanted.has(object) && isOwn(object));
  return [
    ...[...wanted].flatMap(([object, parts]) => {
      const own = found.get(object);
      return own === undefined ? [{ object, part: '', detail: 'is missing' }] : differencesIn(object, parts, own);
    }),
    ...added.map((object) => ({ object, part: '', detail: 'was added' })),
  ];
}

function differencesIn(
  object: string,
  wanted: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): readonly SchemaDifference[] {
  return [...new Set([...wanted.keys(), ...found.keys()])].flatMap((part) => {
    const must = wanted.get(part);
    const is = found.get(part);
    if (must === is) return [];
    if (is === undefined) return [{ object, part, detail: `is missing: ${must}` }];
    if (must === undefined) return [{ object, part, detail: `was added: ${is}` }];
    return [{ object, part, detail: `is "${is}" and must be "${must}"` }];
  });
}

/** The name of a function without its parameters; null for other objects. */
function functionOf(object: string): string | null {
  return /^([^(]+)\(/.exec(object)?.[1] ?? null;
}
