import * as z from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** A schema of an object that permits further members, so that another schema can extend it. */
const Extendable = z.strictObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.json()),
  required: z.array(z.string()),
});
type Extendable = z.infer<typeof Extendable>;

/** Fewer shared properties than this are written out, which reads better than a reference. */
const FEWEST_SHARED = 4;

/**
 * Rewrites a schema that has every property of another one as an extension of it, with `allOf`: `NewApiKey` is `ApiKey`
 * plus `key`.
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

const Properties = z.record(z.string(), z.record(z.string(), z.json()));
const Variant = z.object({ properties: Properties, required: z.array(z.string()) });
type Variant = z.infer<typeof Variant>;

const Discriminated = z.object({
  description: z.string().optional(),
  oneOf: z.array(z.object({ $ref: z.string() })),
  discriminator: z.object({ propertyName: z.string() }),
});

const Constant = z.object({ const: z.string() });

/**
 * Rewrites a discriminated union as a base schema that each variant extends. The base has the members of all variants,
 * so that clients of any generator can read them: NSwag generates no class for a union, and Kiota an empty one.
 * `required` of each variant says which members it has.
 * @param schemas JSON Schemas by name
 */
export function extendDiscriminated(schemas: JsonObject): JsonObject {
  const written = new Map(Object.entries(schemas));
  for (const [name, schema] of Object.entries(schemas)) {
    const { success, data } = Discriminated.safeParse(schema);
    if (!success) continue;
    const { description, discriminator, oneOf } = data;
    const names = oneOf.map(({ $ref }) => $ref.split('/').at(-1) ?? '');
    const variants = names.map((one) => Variant.parse(schemas[one]));
    const { propertyName } = discriminator;
    const mapping = Object.fromEntries(
      variants.map(({ properties }, at) => [
        Constant.parse(properties[propertyName]).const,
        `#/components/schemas/${names[at]}`,
      ]),
    );
    const which = { description: 'Which of them it is.', type: 'string', enum: Object.keys(mapping) };
    const common: JsonObject = { ...commonProperties(variants), [propertyName]: which };
    written.set(name, {
      ...(description !== undefined && { description }),
      type: 'object',
      properties: common,
      required: Object.keys(common).filter((one) => variants.every(({ required }) => required.includes(one))),
      discriminator: { propertyName, mapping },
    });
    for (const [at, variant] of variants.entries()) written.set(names[at] ?? '', variantOf(variant, name, common));
  }
  return Object.fromEntries(written);
}

/** Returns the properties that are equal in every variant that has them, apart from constants. */
function commonProperties(variants: readonly Variant[]): JsonObject {
  const all = variants.flatMap(({ properties }) =>
    Object.entries(properties).map(([name, { const: _, ...property }]) => ({ name, property })),
  );
  const isAlike = ({ name, property }: { readonly name: string; readonly property: JsonObject }): boolean =>
    all.every((other) => other.name !== name || JSON.stringify(other.property) === JSON.stringify(property));
  return Object.fromEntries(all.filter(isAlike).map(({ name, property }) => [name, property]));
}

function variantOf({ properties, required }: Variant, base: string, common: JsonObject): JsonObject {
  const own = Object.entries(properties).filter(([name]) => common[name] === undefined);
  return {
    allOf: [
      { $ref: `#/components/schemas/${base}` },
      { ...(own.length > 0 && { type: 'object', properties: Object.fromEntries(own) }), required },
    ],
  };
}
