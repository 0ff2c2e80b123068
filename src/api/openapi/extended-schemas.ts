import * as z from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** A schema of an object that permits other members, so that it can be a part of another schema. */
const Extendable = z.strictObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.json()),
  required: z.array(z.string()),
});
type Extendable = z.infer<typeof Extendable>;

/** Fewer shared properties are written out, which reads better than a reference. */
const FEWEST_SHARED = 4;

/**
 * Writes a schema that has every property of another one as that one and the rest, by `allOf`:
 * `NewApiKey` is `ApiKey` with `key`.
 * @param schemas JSON Schemas by name
 */
export function extendSchemas(schemas: JsonObject): JsonObject {
  const extendable = new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const { success, data } = Extendable.safeParse(schema);
      return success ? [[name, data] as const] : [];
    }),
  );
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const whole = extendable.get(name);
      const base = whole === undefined ? undefined : largestBase(whole, extendable);
      return [name, whole === undefined || base === undefined ? schema : extension(whole, base)];
    }),
  );
}

interface Base {
  readonly name: string;
  readonly schema: Extendable;
}

function largestBase(whole: Extendable, others: ReadonlyMap<string, Extendable>): Base | undefined {
  return [...others]
    .map(([name, schema]) => ({ name, schema }))
    .filter(({ schema }) => isPart(schema, whole))
    .sort((a, b) => sizeOf(b.schema) - sizeOf(a.schema))[0];
}

function isPart(part: Extendable, whole: Extendable): boolean {
  const size = sizeOf(part);
  if (size < FEWEST_SHARED || size >= sizeOf(whole)) return false;
  return Object.entries(part.properties).every(
    ([name, property]) =>
      JSON.stringify(property) === JSON.stringify(whole.properties[name]) &&
      part.required.includes(name) === whole.required.includes(name),
  );
}

function extension(whole: Extendable, { name, schema }: Base): JsonObject {
  const isOwn = (property: string): boolean => schema.properties[property] === undefined;
  return {
    allOf: [
      { $ref: `#/components/schemas/${name}` },
      {
        type: 'object',
        properties: Object.fromEntries(Object.entries(whole.properties).filter(([property]) => isOwn(property))),
        required: whole.required.filter(isOwn),
      },
    ],
  };
}

function sizeOf({ properties }: Extendable): number {
  return Object.keys(properties).length;
}
