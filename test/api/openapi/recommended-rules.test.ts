import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { panelDescription, toolApiText } from '../../../src/api/openapi/descriptions.js';
import { yamlText } from '../../../src/api/openapi/yaml-text.js';

const PANEL = yamlText(panelDescription());

const problemsOf = async (source: string, absoluteRef: string): Promise<readonly string[]> => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef, config });
  return problems.map(
    ({ severity, ruleId, message, location: [where] }) => `${severity} ${ruleId} at ${where?.pointer}: ${message}`,
  );
};

it.each([
  ['/openapi.yaml', PANEL],
  ['/openapi/tool-api.json', toolApiText()],
])('%s has no error and no warning under the recommended rules of Redocly', async (path, source) => {
  expect(await problemsOf(source, path)).toEqual([]);
});

it('reports a document that breaks a rule', async () => {
  const broken = PANEL.replace('operationId: login', 'operationId: refresh');
  expect(await problemsOf(broken, '/openapi.yaml')).toContainEqual(expect.stringContaining('operation-operationId'));
});

it('/openapi.yaml takes less than 2,220 bytes for each operation', () => {
  const operations = PANEL.match(/^ {3}operationId:/gm) ?? [];
  expect(operations.length).toBeGreaterThan(100);
  expect(Buffer.byteLength(PANEL) / operations.length).toBeLessThan(2220);
});
