import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { NoBody } from '../../../schemas/api/panel/common.js';
import { panelDescription } from '../../../src/api/openapi/descriptions.js';
import { panelDocument } from '../../../src/api/openapi/panel-documentation.js';
import { PANEL_OPERATIONS } from '../../../src/api/panel/operations.js';

it('is a valid OpenAPI 3.1 description', async () => {
  const result = await new Validator().validate(panelDescription());
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('describes every operation of the panel', () => {
  const text = JSON.stringify(panelDescription());
  for (const { id } of PANEL_OPERATIONS) expect(text).toContain(`"operationId":"${id}"`);
});

it('refers only to components that exist, and has no other components', () => {
  const text = JSON.stringify(panelDescription());
  const description = JSON.parse(text);
  const referred = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]));
  expect([...referred].filter((name) => !(String(name) in description.components.schemas))).toEqual([]);
  expect(Object.keys(description.components.schemas).filter((name) => !referred.has(name))).toEqual([]);
});

const DESCRIPTION = JSON.stringify(panelDescription());

it.each(PANEL_OPERATIONS)('shows a body of $id that its schema takes', ({ id, body, example: { body: example } }) => {
  expect(example === undefined).toBe(body === NoBody);
  if (example === undefined) return;
  expect(body.safeParse(example).error).toBeUndefined();
  expect(DESCRIPTION).toContain(`/${named(id)}Request"},"example":${JSON.stringify(example)}`);
});

it('is in docs/panel-api.md as it is here (else: npm run openapi)', () => {
  expect(readFileSync('docs/panel-api.md', 'utf8')).toBe(panelDocument());
});

function named(id: string): string {
  return id.slice(0, 1).toUpperCase() + id.slice(1);
}
