import * as z from 'zod';

const Members = z.record(z.string(), z.unknown());
const Variants = z.looseObject({ discriminator: z.object({ mapping: z.record(z.string(), z.string()) }) });

/**
 * A copy of an OpenAPI document in which no schema permits a member that it does not describe, so that an answer with
 * one fails. Requests of the copy are closed as well.
 */
export function closedDocument(document: unknown): unknown {
  const { components } = z.object({ components: z.object({ schemas: Members }) }).parse(document);
  const resolve = (schema: Record<string, unknown>): Record<string, unknown> => {
    if (typeof schema.$ref !== 'string') return schema;
    return resolve(Members.parse(components.schemas[schema.$ref.split('/').at(-1) ?? '']));
  };
  const hasMembers = (schema: Record<string, unknown>): boolean => {
    const resolved = resolve(schema);
    if ('additionalProperties' in resolved) return false;
    const parts = z.array(Members).safeParse(resolved.allOf).data ?? [];
    return 'properties' in resolved || parts.some(hasMembers);
  };
  /** A schema of a whole value, not a part of another schema. */
  const closed = (value: unknown): unknown => {
    const { success, data: schema } = Members.safeParse(value);
    if (!success) return value;
    const { data: variants } = Variants.safeParse(resolve(schema));
    if (variants !== undefined) {
      const anyOf = Object.values(variants.discriminator.mapping).map(($ref) => ({ $ref }));
      return { anyOf, unevaluatedProperties: false };
    }
    const inner = withClosedParts(schema);
    return hasMembers(schema) ? { ...inner, unevaluatedProperties: false } : inner;
  };
  const withClosedParts = (schema: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(schema).map(([name, value]) => {
        if (name === 'properties') {
          const properties = Object.entries(Members.parse(value)).map(([member, one]) => [member, closed(one)]);
          return [name, Object.fromEntries(properties)];
        }
        if (name === 'items' || name === 'additionalProperties') return [name, closed(value)];
        if (name === 'oneOf' || name === 'anyOf') return [name, z.array(z.unknown()).parse(value).map(closed)];
        if (name === 'allOf') return [name, z.array(Members).parse(value).map(withClosedParts)];
        return [name, value];
      }),
    );
  const schemas = Object.entries(components.schemas).map(([name, one]) => [name, withClosedParts(Members.parse(one))]);
  const withClosedContents = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withClosedContents);
    const { success, data } = Members.safeParse(value);
    if (!success) return value;
    return Object.fromEntries(
      Object.entries(data).map(([name, member]) => [
        name,
        name === 'schema' ? closed(member) : withClosedContents(member),
      ]),
    );
  };
  const rest = Members.parse(withClosedContents(document));
  return { ...rest, components: { ...Members.parse(rest.components), schemas: Object.fromEntries(schemas) } };
}
