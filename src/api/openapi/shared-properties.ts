import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';

/** A reference takes about as much text as this. */
const LENGTH_OF_REFERENCE = 45;

/** Least number of characters that a component must save. For less, sending the reader elsewhere is not worth it. */
const LEAST_SAVING = 100;

/** Component names for properties whose own name means something else in some client language. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['field', 'FieldPath'],
  ['required', 'IsRequired'],
]);

/**
 * Turns properties that many schemas describe in the same words into components: `revision` is `Revision`. Where a name
 * has several meanings, only the most common one becomes a component.
 * @param schemas JSON Schemas by name, with their descriptions
 */
export function shareProperties(schemas: JsonObject): JsonObject {
  const shared = sharedProperties(schemas);
  const referred = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, withReferences(schema, shared)]),
  );
  return {
    ...referred,
    ...Object.fromEntries([...shared.values()].map(({ component, schema }) => [component, schema])),
  };
}

interface SharedProperty {
  readonly component: string;
  readonly schema: JsonObject;
  /** The schema as JSON text, for comparison. */
  readonly text: string;
}

/** Schemas by the name of the property. */
function sharedProperties(schemas: JsonObject): ReadonlyMap<string, SharedProperty> {
  const uses = new Map<string, Map<string, { readonly schema: JsonObject; count: number }>>();
  forEachProperty(schemas, (name, schema) => {
    const text = JSON.stringify(schema);
    const ofName = uses.get(name) ?? new Map<string, { schema: JsonObject; count: number }>();
    uses.set(name, ofName);
    const use = ofName.get(text);
    if (use === undefined) ofName.set(text, { schema, count: 1 });
    else use.count += 1;
  });
  const shared = new Map<string, SharedProperty>();
  for (const [name, ofName] of uses) {
    const component = NAMES.get(name) ?? name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    const savings = [...ofName].map(([text, { schema, count }]) => ({
      property: { component, schema, text },
      saving: (count - 1) * text.length - count * LENGTH_OF_REFERENCE,
    }));
    const [best] = savings.sort((a, b) => b.saving - a.saving);
    // "A component or null" does not become a component: generators would create a class for it.
    if (best?.property.schema.oneOf !== undefined) continue;
    if (best !== undefined && best.saving >= LEAST_SAVING && schemas[component] === undefined) {
      shared.set(name, best.property);
    }
  }
  return shared;
}

function forEachProperty(value: JsonValue, visit: (name: string, schema: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) forEachProperty(item, visit);
  if (!isObject(value)) return;
  for (const [member, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    if (member === 'properties' && isObject(inner)) {
      for (const [name, schema] of Object.entries(inner)) if (isObject(schema)) visit(name, schema);
    }
    forEachProperty(inner, visit);
  }
}

function withReferences(value: JsonValue | undefined, shared: ReadonlyMap<string, SharedProperty>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, shared));
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      member === 'properties' && isObject(inner) ? referredProperties(inner, shared) : withReferences(inner, shared),
    ]),
  );
}

function referredProperties(properties: JsonObject, shared: ReadonlyMap<string, SharedProperty>): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const property = shared.get(name);
      const isShared = property !== undefined && property.text === JSON.stringify(schema);
      return [name, isShared ? { $ref: `#/components/schemas/${property.component}` } : withReferences(schema, shared)];
    }),
  );
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
