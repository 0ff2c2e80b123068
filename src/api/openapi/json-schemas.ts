import { z } from 'zod';
import type { JsonObject } from '../../../schemas/json/json-value.js';

const Json = z.record(z.string(), z.json());

/** The components as JSON Schema 2020-12, by name; what one has of another is a reference. */
export function componentSchemas(components: ReadonlyMap<string, z.ZodType>): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of components) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: referenceTo, io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)]));
}

export function referenceTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** A schema of parameters: the schema of each by its name, and which are needed. */
export function parameterSchemas(schema: z.ZodType): {
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
} {
  return ParameterSchemas.parse(plain(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
}

const ParameterSchemas = z.object({
  properties: z.record(z.string(), Json),
  required: z.array(z.string()).default([]),
});

/** Without what only a document of its own has. */
function plain(schema: object): JsonObject {
  const { $schema, $id, ...rest } = Json.parse(JSON.parse(JSON.stringify(schema)));
  return rest;
}
