import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { TOOL_API_OPERATIONS, toolApiDescription } from '../../../src/api/openapi/descriptions.js';
import { hasBody } from '../../../src/api/server/operation.js';

it('is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(toolApiDescription());
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('names every format of the export', () => {
  const description: unknown = toolApiDescription();
  expect(description).toMatchObject({
    paths: {
      '/tool/v1/s2s/consents/export': {
        get: {
          responses: {
            200: {
              content: {
                'application/json': {},
                'application/x-ndjson': {},
                'text/csv': {},
                'application/vnd.apache.parquet': {},
              },
            },
          },
        },
      },
    },
  });
});

it.each(TOOL_API_OPERATIONS)('shows examples of $id that match its schemas', (operation) => {
  const { body, response, download, example, query, params } = operation;
  if (hasBody(operation)) expect(body.safeParse(example.body).error).toBeUndefined();
  if (download === undefined && example.response !== undefined) {
    expect(response.safeParse(example.response).error).toBeUndefined();
  }
  expect(query.safeParse(example.query ?? {}).error).toBeUndefined();
  expect(params.safeParse(example.path ?? {}).error).toBeUndefined();
});
