import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOOL_API_OPERATIONS } from '../../../src/api/openapi/descriptions.js';
import { renewHttpApiDocument } from '../../../src/api/openapi/http-api-documentation.js';

const DOCUMENT = readFileSync('docs/http-api.md', 'utf8');

it('docs/http-api.md has the current tables of operations and errors (otherwise run: npm run openapi)', () => {
  expect(renewHttpApiDocument(DOCUMENT)).toBe(DOCUMENT);
  for (const { method, path } of TOOL_API_OPERATIONS) expect(DOCUMENT).toContain(`\`${method.toUpperCase()} ${path}\``);
});

it('a page without the comments is refused', () => {
  expect(() => renewHttpApiDocument('# A page')).toThrow('the page has no place for operations');
});
