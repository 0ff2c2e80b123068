import * as z from 'zod';
import { InputUuid } from '../../../schemas/api/common.js';
import { Instant, Uuid } from '../../../schemas/evidence/primitives.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';

const Json = z.record(z.string(), z.json());
const PREFIX = '#/components/schemas/';

/** Patterns for which a format says the same in fewer characters. */
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  [z.toJSONSchema(Uuid).pattern, 'uuid'],
  [z.toJSONSchema(InputUuid).pattern, 'uuid'],
  [z.toJSONSchema(Instant).pattern, 'date-time'],
]);

const OPTIONS = {
  io: 'input',
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    joinNull(jsonSchema);
    joinTypes(jsonSchema);
    const { def } = zodSchema._zod;
    // Generators would type the default as any value. The description states it instead.
    if (jsonSchema.type === undefined && jsonSchema.$ref === undefined) delete jsonSchema.default;
    if (def.type === 'union' && 'discriminator' in def) jsonSchema.discriminator = { propertyName: def.discriminator };
    // Member names are always strings.
    if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
    const format = FORMATS.get(jsonSchema.pattern);
    if (format !== undefined) jsonSchema.format = format;
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    // Every integer is within the safe range of JavaScript.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
} satisfies Parameters<typeof z.toJSONSchema>[1];

/**
 * Writes "a string or null" as `type: [string, null]` instead of two schemas, and "a component or null" with `oneOf`:
 * generators read that as an optional component, but `anyOf` as an empty class.
 */
function joinNull(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const [first, second, ...others] = jsonSchema.anyOf ?? [];
  const isNullable = second !== undefined && others.length === 0 && 'type' in second && second.type === 'null';
  if (!isNullable || first === undefined) return;
  delete jsonSchema.anyOf;
  joinTypes(first);
  if (first.$ref !== undefined) jsonSchema.oneOf = [first, second];
  if (typeof first.type !== 'string') return;
  Object.assign(jsonSchema, first, { type: [first.type, 'null'] });
  if (first.enum !== undefined) jsonSchema.enum = [...first.enum, null];
}

/**
 * Writes a string of several forms as a string, and a value of several types as any value; the description says what it
 * is. Generators would create a class for a union, and an empty one if its variants share no member.
 */
function joinTypes(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const variants = jsonSchema.anyOf ?? [];
  if (variants.length === 0 || variants.some(({ $ref }) => $ref !== undefined)) return;
  delete jsonSchema.anyOf;
  if (variants.every(({ type }) => type === 'string')) jsonSchema.type = 'string';
}

/** Schemas of requests and responses as OpenAPI components. */
export interface SchemaComponents {
  /** JSON Schema 2020-12 by name. */
  readonly schemas: JsonObject;
  /** @throws Error if the schema was not given */
  readonly referenceTo: (schema: z.ZodType) => JsonObject;
}

/**
 * Makes components of schemas. A schema that is used twice becomes one component, and so do schemas that are equal: `{
 * data: Site }` is `SiteResponse`, whichever operations return it. A schema with an id of its own (`.meta({ id })`) is
 * a component wherever it is nested.
 * @param named the schemas, with the name of each that has no id of its own
 */
export function schemaComponents(named: ReadonlyMap<z.ZodType, string>): SchemaComponents {
  const registry = z.registry<{ id: string }>();
  for (const [schema, name] of named) registry.add(schema, { id: ownName(schema) ?? name });
  const converted = z.toJSONSchema(registry, { ...OPTIONS, uri: (id) => PREFIX + id });
  const { __shared: shared, ...schemas } = Json.parse(JSON.parse(withPlainReferences(converted.schemas)));
  const { $defs: nested = {} } = Json.parse(shared ?? {});
  const all = new Map(Object.entries({ ...schemas, ...Json.parse(nested) }).map(([name, one]) => [name, plain(one)]));
  const names = commonNames(all);
  const text = JSON.stringify(Object.fromEntries([...all].map(([name, one]) => [names.get(name), one])));
  const renamed = text.replaceAll(
    /"#\/components\/schemas\/(\w+)"/g,
    (_, name: string) => `"${PREFIX}${names.get(name) ?? name}"`,
  );
  return {
    schemas: Json.parse(JSON.parse(renamed, descriptionFirst)),
    referenceTo: (schema) => {
      const id = registry.get(schema)?.id;
      if (id === undefined) throw new Error('a schema without a name was referred to');
      return { $ref: `${PREFIX}${names.get(id) ?? id}` };
    },
  };
}

/** The id that the schema states itself. */
function ownName(schema: z.ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.id;
}

/** Zod puts schemas that are only nested into definitions of their own; here they become components like the others. */
function withPlainReferences(schemas: object): string {
  return JSON.stringify(schemas).replaceAll('/__shared#/$defs/', '/');
}

/** Names equal components: `{ data: Site }` is `SiteResponse`, and any other takes the name of the first of them. */
function commonNames(schemas: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, string> {
  const byText = new Map<string, string[]>();
  for (const [name, schema] of schemas) {
    const text = JSON.stringify(schema);
    byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  const names = new Map<string, string>();
  for (const [text, same] of byText) {
    const [first = ''] = same;
    const [, item] = ENVELOPE.exec(text) ?? [];
    const wanted = `${item}Response`;
    const common = same.length > 1 && item !== undefined && !schemas.has(wanted) ? wanted : first;
    for (const name of same) names.set(name, common);
  }
  return names;
}

/** A response that holds one item and nothing else. */
const ENVELOPE = /^\{"type":"object","properties":\{"data":\{"\$ref":"#\/components\/schemas\/(\w+)"\}\}/;

/** Puts the description first, so that equal schemas have equal JSON texts. */
function descriptionFirst(_: string, value: unknown): unknown {
  const { success, data } = Described.safeParse(value);
  if (!success) return value;
  const { description, ...rest } = data;
  return { description, ...rest };
}

const Described = z.looseObject({ description: z.string() });

/** Removes the members that belong to a document. */
function plain(schema: JsonValue | undefined): JsonObject {
  const { $schema, $id, id, ...rest } = Json.parse(schema);
  return rest;
}

/**
 * Each property of a schema of parameters or of a body as JSON Schema without references, and the
 * names of the required ones.
 */
export function parameterSchemas(schema: z.ZodType): {
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
} {
  const { $defs = {}, ...converted } = Json.parse(JSON.parse(JSON.stringify(z.toJSONSchema(schema, OPTIONS))));
  return ParameterSchemas.parse(withoutReferences(converted, Json.parse($defs)));
}

function withoutReferences(value: JsonValue | undefined, definitions: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, definitions));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const { $ref, ...own } = value;
  const named = typeof $ref === 'string' ? Json.parse(definitions[$ref.replace('#/$defs/', '')]) : {};
  return Object.fromEntries(
    Object.entries({ ...named, ...own }).map(([name, member]) => [name, withoutReferences(member, definitions)]),
  );
}

const ParameterSchemas = z.object({
  properties: z.record(z.string(), Json).default({}),
  required: z.array(z.string()).default([]),
});
