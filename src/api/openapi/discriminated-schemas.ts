import * as z from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';

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
 * Writes a union whose variants a member tells apart as a schema that each of them extends. The first has the members
 * of all, so that a client of any generator can read them: NSwag has no class for a union, and Kiota one without
 * members. Which of them a variant has is `required` of the variant.
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
    for (const [at, variant] of variants.entries()) written.set(names[at] ?? '', extension(variant, name, common));
  }
  return Object.fromEntries(written);
}

/** The properties that are alike in each variant that has them, but for a constant. */
function commonProperties(variants: readonly Variant[]): JsonObject {
  const all = variants.flatMap(({ properties }) =>
    Object.entries(properties).map(([name, { const: _, ...property }]) => ({ name, property })),
  );
  const isAlike = ({ name, property }: { readonly name: string; readonly property: JsonObject }): boolean =>
    all.every((other) => other.name !== name || JSON.stringify(other.property) === JSON.stringify(property));
  return Object.fromEntries(all.filter(isAlike).map(({ name, property }) => [name, property]));
}

function extension({ properties, required }: Variant, base: string, common: JsonObject): JsonObject {
  const own = Object.entries(properties).filter(([name]) => common[name] === undefined);
  return {
    allOf: [
      { $ref: `#/components/schemas/${base}` },
      { ...(own.length > 0 && { type: 'object', properties: Object.fromEntries(own) }), required },
    ],
  };
}
