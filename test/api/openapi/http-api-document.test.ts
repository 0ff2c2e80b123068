import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOOL_API_OPERATIONS } from '../../../src/api/openapi/operations.js';

/** What the OpenAPI document of the Tool API covers; the table has other routes too. */
const DESCRIBED = /^(?:GET|POST) \/(?:tool\/v1|api\/v1\/public|api\/v1\/auth)\//;

it('lists in docs/http-api.md the routes of docs/openapi/tool-api.json, each of them once', () => {
  const [, table = ''] = readFileSync('docs/http-api.md', 'utf8').split(/^## .*$/m);
  const listed = [...table.matchAll(/`((?:GET|POST) [^`?]+)[^`]*`/g)].map(([, route = '']) => route);
  const described = TOOL_API_OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(listed.filter((route) => DESCRIBED.test(route)).sort()).toEqual(
    described.filter((route) => DESCRIBED.test(route)).sort(),
  );
});
