import type { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { NoBody } from '../../../schemas/api/panel/common.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { PanelOperation } from '../panel/operation.js';
import { PANEL_OPERATIONS } from '../panel/operations.js';
import { AUTH_OPERATIONS } from './auth-operations.js';
import { COMPONENTS } from './components.js';
import { describeOperation, failuresOf } from './describe-operation.js';
import { errorsOfAccess, WITH_BODY } from './error-groups.js';
import { componentSchemas, parameterSchemas, referenceTo } from './json-schemas.js';
import { DESCRIBED_HEADERS, SECURITY_SCHEMES } from './shared-parts.js';

/** The OpenAPI 3.1 description of the panel API and of sign-in: made from the schemas that requests and answers are checked with. */
export function panelDescription(): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of AUTH_OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) };
  }
  for (const operation of PANEL_OPERATIONS) {
    const path = `/api/v1${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describePanelOperation(operation) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Consent Ledger: panel API',
      version: '1',
      description:
        'Everything that is done in the panel. Sign in at /api/v1/auth/login and send the access token as `Authorization: Bearer …`. Lists come in pages: pass `next_cursor` of one page as `cursor` to get the next. Every change is in the audit log.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(PANEL_OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: componentSchemas(panelComponents()),
      securitySchemes: { bearer: SECURITY_SCHEMES.bearer },
      headers: DESCRIBED_HEADERS,
    },
  };
}

function describePanelOperation(operation: PanelOperation): JsonObject {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, `Roles: ${operation.roles.join(', ')}.`].filter(Boolean).join('\n\n'),
    security: [{ bearer: [] }],
    parameters: [...parametersIn('path', operation.params), ...parametersIn('query', operation.query)],
    ...(hasBody(operation) && {
      requestBody: { required: true, content: contentOf(requestName(operation), operation.example) },
    }),
    responses: {
      [operation.status]: {
        description: 'Success',
        headers: RATE_LIMIT_HEADERS,
        content:
          operation.download === undefined
            ? contentOf(responseName(operation))
            : {
                [operation.download.mediaType]: {
                  schema: { type: 'string', description: operation.download.description },
                },
              },
      },
      ...failuresOf(errorsOfPanel(operation)),
    },
  };
}

const RATE_LIMIT_HEADERS: JsonObject = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/X-RateLimit-Remaining' },
};

/** Every code that a route of the panel can answer with. */
export function errorsOfPanel(operation: PanelOperation): readonly ErrorCode[] {
  return [
    ...errorsOfAccess('bearer'),
    'RATE_LIMIT_EXCEEDED',
    'VALIDATION_ERROR',
    ...(operation.path.includes('{site_id}') ? (['SITE_NOT_FOUND'] as const) : []),
    ...(hasBody(operation) ? WITH_BODY : []),
    ...operation.errors.filter((code) => code in ERROR_CODES),
  ];
}

function parametersIn(place: 'path' | 'query', schema: z.ZodObject): JsonValue[] {
  const { properties, required } = parameterSchemas(schema);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

/** The schemas under their names: `CreateSiteRequest` and `CreateSiteResponse` for the operation `createSite`. */
function panelComponents(): ReadonlyMap<string, z.ZodType> {
  const named = new Map(
    AUTH_OPERATIONS.flatMap(({ body, response }) => [body, response, 'ErrorResponse'])
      .filter((name) => name !== undefined)
      .flatMap((name) => {
        const schema = COMPONENTS.get(name);
        return schema === undefined ? [] : [[name, schema] as const];
      }),
  );
  for (const operation of PANEL_OPERATIONS) {
    if (hasBody(operation)) named.set(requestName(operation), operation.body);
    if (operation.download === undefined) named.set(responseName(operation), operation.response);
  }
  return named;
}

function hasBody({ body }: PanelOperation): boolean {
  return body !== NoBody;
}

function contentOf(name: string, example?: JsonObject): JsonObject {
  return { 'application/json': { schema: { $ref: referenceTo(name) }, ...(example !== undefined && { example }) } };
}

function requestName({ id }: PanelOperation): string {
  return `${capitalised(id)}Request`;
}

function responseName({ id }: PanelOperation): string {
  return `${capitalised(id)}Response`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
