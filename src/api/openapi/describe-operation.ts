import { ERROR_CODES, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { errorsOfAccess } from './error-groups.js';
import { parameterSchemas, referenceTo } from './json-schemas.js';
import type { Access, Download, Example, Operation } from './operation.js';

/** The OpenAPI Operation Object of a route. */
export function describeOperation(operation: Operation): JsonObject {
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    security: securityOf(operation.access),
    parameters: parametersOf(operation),
    ...(operation.body !== undefined && {
      requestBody: {
        required: operation.isBodyOptional !== true,
        content: { 'application/json': contentOf(operation.body, operation.example.body ?? null) },
      },
    }),
    responses: {
      [operation.status]: success(operation),
      ...failuresOf([...errorsOfAccess(operation.access), ...operation.errors]),
    },
  };
}

/** The OpenAPI Operation Object of a route that is answered with a file. */
export function describeDownload(download: Download): JsonObject {
  return {
    operationId: download.id,
    summary: download.summary,
    ...(download.description !== undefined && { description: download.description }),
    security: securityOf(download.access),
    parameters: parametersOf(download),
    responses: {
      200: {
        description: 'Success',
        headers: headersOf(download),
        content: { [download.file.mediaType]: { schema: { type: 'string', description: download.file.description } } },
      },
      ...failuresOf([...errorsOfAccess(download.access), ...download.errors]),
    },
  };
}

/** What a route's parameters are described from. */
interface Described extends Pick<Operation, 'access' | 'pathParameters' | 'query'> {
  readonly example: Pick<Example, 'path' | 'query'>;
}

function securityOf(access: Access): JsonValue[] {
  if (access === 'none') return [];
  const schemes: JsonObject = {};
  if (access.includes('key')) schemes.apiKey = [];
  if (access.includes('bearer')) schemes.bearer = [];
  return [schemes];
}

function parametersOf(operation: Described): JsonValue[] {
  const parameters: JsonValue[] = [];
  const add = (place: 'path' | 'query', schema: Operation['query'], values: Example['path']): void => {
    if (schema === undefined) return;
    const { properties, required } = parameterSchemas(schema);
    for (const [name, property] of Object.entries(properties)) {
      const example = values?.[name];
      parameters.push({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        schema: property,
        ...(example !== undefined && { example }),
      });
    }
  };
  add('path', operation.pathParameters, operation.example.path);
  add('query', operation.query, operation.example.query);
  if (operation.access.startsWith('signed')) {
    for (const name of ['Signature', 'Timestamp', 'Nonce'])
      parameters.push({ $ref: `#/components/parameters/${name}` });
  }
  return parameters;
}

function headersOf({ access, headers = {} }: Operation | Download): JsonObject {
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return { ...(access.includes('key') && RATE_LIMIT_HEADERS), ...Object.fromEntries(described) };
}

function success(operation: Operation): JsonObject {
  const { otherMediaType: other } = operation;
  return {
    description: 'Success',
    headers: headersOf(operation),
    content: {
      'application/json': contentOf(operation.response, operation.example.response),
      ...(other !== undefined && {
        [other.name]: { schema: { type: 'string', description: other.description } },
      }),
    },
  };
}

function contentOf(schema: string, example: JsonValue): JsonObject {
  return { schema: { $ref: referenceTo(schema) }, example };
}

const RATE_LIMIT_HEADERS: JsonObject = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/X-RateLimit-Remaining' },
};
const WITH_RETRY_AFTER: ReadonlySet<number> = new Set([429, 503]);

/** One response for each status: its codes, what they mean, and that `code` is one of them. */
export function failuresOf(all: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(all)) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, codes]): [string, JsonObject] => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n\n'),
      headers: WITH_RETRY_AFTER.has(status) ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {},
      content: {
        'application/json': {
          schema: { allOf: [{ $ref: referenceTo('ErrorResponse') }, { properties: { code: { enum: codes } } }] },
        },
      },
    },
  ]);
  return Object.fromEntries(responses);
}
