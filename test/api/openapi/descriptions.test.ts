import { expect, it } from 'vitest';
import * as z from 'zod';
import { panelDescription, toolApiDescription } from '../../../src/api/openapi/descriptions.js';

const DOCUMENTS = [
  ['/openapi.yaml', panelDescription()],
  ['/openapi/tool-api.json', toolApiDescription()],
] as const;

const Members = z.record(z.string(), z.unknown());
const Described = z.union([z.object({ description: z.string().min(1) }), z.object({ $ref: z.string() })]);
const Components = z.object({ schemas: Members, parameters: Members });
const Parameter = z.looseObject({ name: z.string(), in: z.enum(['path', 'query']) });

/** Every property and every parameter within a value, with the way to it. */
function fieldsOf(value: unknown, path: string): readonly { readonly path: string; readonly field: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, path));
  const { success, data } = Members.safeParse(value);
  if (!success) return [];
  const parameter = Parameter.safeParse(value);
  if (parameter.success) return [{ path: `${path} ${parameter.data.name}`, field: value }];
  return Object.entries(data).flatMap(([name, member]) => {
    const properties = name === 'properties' ? Members.parse(member) : {};
    return [
      ...Object.entries(properties).map(([property, field]) => ({ path: `${path}.${property}`, field })),
      ...fieldsOf(member, `${path}.${name}`),
    ];
  });
}

it.each(DOCUMENTS)('%s describes each field of each operation', (_, { paths, components }) => {
  const { schemas, parameters } = Components.parse(components);
  const fields = fieldsOf({ paths, schemas, parameters }, '');
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(({ field }) => !Described.safeParse(field).success).map(({ path }) => path)).toEqual([]);
});
