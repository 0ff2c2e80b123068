import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { COMPONENTS } from '../../../src/api/openapi/components.js';
import { OPERATIONS } from '../../../src/api/openapi/operations.js';
import { toolApiDescription, toolApiText } from '../../../src/api/openapi/tool-api.js';

it('is a valid OpenAPI 3.1 description', async () => {
  const result = await new Validator().validate(toolApiDescription());
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('is what docs/openapi/tool-api.json says (else: npm run openapi)', () => {
  expect(readFileSync('docs/openapi/tool-api.json', 'utf8')).toBe(toolApiText());
});

it('refers to nothing that is not there, and holds no schema that nothing refers to', () => {
  const text = toolApiText();
  const referred = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]));
  expect([...referred].filter((name) => !COMPONENTS.has(name ?? ''))).toEqual([]);
  expect([...COMPONENTS.keys()].filter((name) => !referred.has(name))).toEqual([]);
});

it('shows examples that its own schemas take', () => {
  for (const { id, body, response, example, query, pathParameters } of OPERATIONS) {
    if (body !== undefined) expect(COMPONENTS.get(body)?.safeParse(example.body).error, id).toBeUndefined();
    expect(COMPONENTS.get(response)?.safeParse(example.response).error, id).toBeUndefined();
    if (query !== undefined) expect(query.safeParse(example.query ?? {}).error, id).toBeUndefined();
    if (pathParameters !== undefined) expect(pathParameters.safeParse(example.path).error, id).toBeUndefined();
  }
});
