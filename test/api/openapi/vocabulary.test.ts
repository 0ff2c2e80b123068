import { expect, it } from 'vitest';
import { z } from 'zod';
import { panelDescription } from '../../../src/api/openapi/panel-api.js';
import { toolApiDescription } from '../../../src/api/openapi/tool-api.js';
import { describeProperties, VOCABULARY } from '../../../src/api/openapi/vocabulary.js';

const DOCUMENTS = [
  ['/openapi.yaml', panelDescription()],
  ['/openapi/tool-api.json', toolApiDescription()],
] as const;

const Members = z.record(z.string(), z.unknown());
const Described = z.union([z.object({ description: z.string().min(1) }), z.object({ $ref: z.string() })]);

/** Every property of every schema within a value, with the way to it. */
function propertiesOf(value: unknown, path: string): readonly { readonly path: string; readonly schema: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((item) => propertiesOf(item, path));
  const { success, data } = Members.safeParse(value);
  if (!success) return [];
  return Object.entries(data).flatMap(([name, member]) => {
    const properties = name === 'properties' ? Members.parse(member) : {};
    return [
      ...Object.entries(properties).map(([property, schema]) => ({ path: `${path}.${property}`, schema })),
      ...propertiesOf(member, `${path}.${name}`),
    ];
  });
}

it.each(DOCUMENTS)('%s describes every property', (_, { components }) => {
  const { schemas } = z.object({ schemas: Members }).parse(components);
  const properties = propertiesOf(schemas, '');
  expect(properties.length).toBeGreaterThan(300);
  expect(properties.filter(({ schema }) => !Described.safeParse(schema).success).map(({ path }) => path)).toEqual([]);
});

it('has no description that no document uses', () => {
  const text = JSON.stringify(DOCUMENTS);
  const start = (description: string): string => JSON.stringify(description.replace(/; null: .*$/, '')).slice(1, -2);
  const unused = Object.entries(VOCABULARY).filter(([, description]) => !text.includes(start(description)));
  expect(unused).toEqual([]);
});

it('refuses a property that nobody described', () => {
  const schemas = { Site: { type: 'object', properties: { surprise: { type: 'string' } } } };
  expect(() => describeProperties(schemas)).toThrow('properties without a description: Site.surprise');
});

it('says what null means only where a property can be null', () => {
  const described = describeProperties({
    Open: { type: 'object', properties: { valid_until: { type: ['string', 'null'] } } },
    Closed: { type: 'object', properties: { valid_until: { type: 'string' } } },
  });
  expect(described).toMatchObject({
    Open: { properties: { valid_until: { description: 'Until when the consent is valid; null: not limited.' } } },
    Closed: { properties: { valid_until: { description: 'Until when the consent is valid.' } } },
  });
});
