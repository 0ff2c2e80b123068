import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  PANEL_API_OPERATIONS,
  panelDescription,
  TOOL_API_OPERATIONS,
  toolApiDescription,
} from '../../../src/api/openapi/descriptions.js';
import { errorsOf } from '../../../src/api/server/operation.js';

const Members = z.record(z.string(), z.unknown());
const ErrorAnswer = z.object({
  content: Members,
  'x-error-codes': z.array(z.string()).min(1),
  description: z.string(),
});
const Reference = z.strictObject({ $ref: z.string() });
const Document = z.object({
  paths: z.record(
    z.string(),
    z
      .object({ parameters: z.array(Members).optional() })
      .catchall(z.object({ operationId: z.string(), responses: Members }))
      .transform(({ parameters, ...methods }) => methods),
  ),
  components: z.object({ responses: Members, schemas: Members }),
});

describe.each([
  ['/openapi.yaml', Document.parse(panelDescription()), PANEL_API_OPERATIONS],
  ['/openapi/tool-api.json', Document.parse(toolApiDescription()), TOOL_API_OPERATIONS],
] as const)('%s, as generators of clients read it', (_, { paths, components }, operations) => {
  const described = Object.values(paths).flatMap((methods) => Object.values(methods));

  it.each(described)('$operationId has one schema for all errors, and names the codes that it can have', (one) => {
    const answers = Object.entries(one.responses).filter(([status]) => !status.startsWith('2'));
    const errors = answers.map(([, answer]) => {
      const name = Reference.parse(answer).$ref.split('/').at(-1) ?? '';
      return ErrorAnswer.parse(components.responses[name]);
    });
    for (const { content, description, 'x-error-codes': codes } of errors) {
      expect(content).toEqual({ 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } });
      for (const code of codes) expect(description).toContain(`\`${code}\``);
    }
    const operation = operations.find(({ id }) => id === one.operationId);
    const codes = new Set(errors.flatMap((error) => error['x-error-codes']));
    expect(operation === undefined ? [] : errorsOf(operation).filter((code) => !codes.has(code))).toEqual([]);
  });

  it('has the table of the codes of its operations', () => {
    const { properties } = z.object({ properties: Members }).parse(components.schemas.ErrorResponse);
    const { description } = z
      .strictObject({ type: z.literal('string'), description: z.string() })
      .parse(properties.code);
    for (const code of operations.flatMap(errorsOf)) expect(description).toContain(`| \`${code}\` |`);
  });
});
