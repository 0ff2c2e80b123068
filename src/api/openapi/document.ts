import * as z from 'zod';
import { ErrorResponse } from '../../../schemas/api/error-response.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { COOKIE_HEADER } from '../auth/tokens.js';
import { type Access, errorsOf, type FileContent, hasBody, type Operation, PANEL_ROLES } from '../server/operation.js';
import { ErrorResponses, tableOfErrors } from './error-responses.js';
import { extendDiscriminated, extendSchemas } from './extended-schemas.js';
import { type SchemaComponents, schemaComponents } from './json-schemas.js';
import { type DocumentParameters, documentParameters } from './parameters.js';
import { shareProperties } from './shared-properties.js';
import { type SharedResponses, sharedResponses } from './shared-responses.js';
import { TAGS } from './tags.js';

export interface DocumentOptions {
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The API key of the site (`svc_live_…`, or `svc_test_…` for test records alone).',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Signature',
    description:
      'Lower-case hex HMAC-SHA256, with the API key as key, of METHOD, PATH without query, TIMESTAMP, NONCE and the lower-case hex SHA-256 of the exact body, joined by single line feeds. The request also has `X-Timestamp`, the Unix time in seconds within 300 seconds of the server’s time, and `X-Nonce`, 8 to 128 characters of `A-Z a-z 0-9 . _ : -` that are new for the site, for example a UUID. A client signs each attempt anew.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token of /api/v1/auth/login. Where no roles are named, owner, admin, dpo and viewer may call.',
  },
} satisfies JsonObject;

const integerHeader = (description: string): JsonObject => ({ description, schema: { type: 'integer', minimum: 0 } });

const textHeader = (description: string): JsonObject => ({ description, schema: { type: 'string' } });

const HEADERS = {
  'Retry-After': integerHeader('Seconds to wait before the next attempt.'),
  Limit: integerHeader('Requests per minute that the limit permits.'),
  Remaining: integerHeader('Requests that remain in the current minute.'),
  RefreshCookie: textHeader(COOKIE_HEADER['Set-Cookie']),
} satisfies JsonObject;

const RATE_LIMIT_HEADERS: JsonObject = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/Limit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/Remaining' },
};

/**
 * Returns the OpenAPI 3.1 document of some operations. Schemas, error responses and shared parameters are components,
 * and the security requirement that most operations have is that of the document.
 */
export function openApiDocument({ title, description, operations }: DocumentOptions): JsonObject {
  const schemas = schemaComponents(namedSchemas(operations));
  const errors = new ErrorResponses(schemas.referenceTo(ErrorResponse));
  const parameters = documentParameters(operations);
  const successes = sharedResponses(operations.map((operation) => success(operation, schemas.referenceTo)));
  const security = commonSecurity(operations);
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of operations) {
    const { path, method } = operation;
    const ofPath = parameters.ofPath(path);
    const described = describe(operation, { schemas, parameters, errors, successes, security });
    paths[path] = { ...(ofPath.length > 0 && { parameters: ofPath }), ...paths[path], [method]: described };
  }
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: '1',
      description,
      contact: { name: 'The operator of the service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security,
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: tagDescription(name) })),
    paths,
    components: {
      schemas: shareProperties(extendSchemas(extendDiscriminated(withCodes(schemas.schemas, operations)))),
      responses: { ...successes.components, ...errors.components },
      parameters: parameters.components,
      headers: HEADERS,
      securitySchemes: Object.fromEntries(
        Object.entries(SECURITY_SCHEMES).filter(([name]) =>
          operations.some(({ access }) => schemesOf(access).includes(name)),
        ),
      ),
    },
  };
}

/**
 * Returns the schemas, with the table of codes added to the schema of errors. The code is a plain string, because
 * clients with an enumeration would fail on a code of a newer service.
 */
function withCodes({ ErrorResponse: error, ...schemas }: JsonObject, operations: readonly Operation[]): JsonObject {
  const codes = new Set<string>(operations.flatMap(errorsOf));
  const table = tableOfErrors((code) => codes.has(code));
  const { properties, ...rest } = ErrorSchema.parse(error);
  const description = `Stable code of the error. Newer services may add codes.\n\n${table}`;
  const code = { ...properties.code, description };
  return { ...schemas, ErrorResponse: { ...rest, properties: { ...properties, code } } };
}

const ErrorSchema = z.looseObject({
  properties: z.object({ code: z.record(z.string(), z.json()) }).catchall(z.json()),
});

/** @throws Error for a tag without a description */
function tagDescription(name: string): string {
  const description = TAGS[name];
  if (description === undefined) throw new Error(`the tag ${name} has no description`);
  return description;
}

/**
 * Names the schemas of operations: those of `createSite` are `CreateSiteRequest` and `CreateSiteResponse`, unless they
 * have names of their own.
 */
function namedSchemas(operations: readonly Operation[]): ReadonlyMap<z.ZodType, string> {
  const named = new Map<z.ZodType, string>([[ErrorResponse, 'ErrorResponse']]);
  const add = (schema: z.ZodType, name: string): void => {
    if (!named.has(schema)) named.set(schema, name.slice(0, 1).toUpperCase() + name.slice(1));
  };
  for (const operation of operations) {
    if (hasBody(operation)) add(operation.body, `${operation.id}Request`);
    if (operation.download === undefined) add(operation.response, `${operation.id}Response`);
  }
  return named;
}

interface SharedParts {
  readonly schemas: SchemaComponents;
  readonly parameters: DocumentParameters;
  readonly errors: ErrorResponses;
  readonly successes: SharedResponses;
  /** The requirement of every operation that does not state its own. */
  readonly security: JsonValue;
}

function describe(operation: Operation, { schemas, parameters, errors, successes, security }: SharedParts): JsonObject {
  const { referenceTo } = schemas;
  const { id, tag, summary, access, example, body } = operation;
  const description = descriptionOf(operation);
  const ofOperation = parameters.of(operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== '' && { description }),
    ...(JSON.stringify(securityOf(access)) !== JSON.stringify(security) && { security: securityOf(access) }),
    ...(ofOperation.length > 0 && { parameters: ofOperation }),
    ...(hasBody(operation) && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': contentOf(referenceTo(body), example.body) },
      },
    }),
    responses: {
      [operation.status]: successes.of(success(operation, referenceTo)),
      ...errors.of(errorsOf(operation)),
    },
  };
}

/** The security requirement of an operation, after section 4.8.30 of OpenAPI 3.1. */
function securityOf(access: Access): JsonValue[] {
  const schemes = schemesOf(access);
  return schemes.length === 0 ? [] : [Object.fromEntries(schemes.map((name) => [name, []]))];
}

/** The requirement that most operations have. */
function commonSecurity(operations: readonly Operation[]): JsonValue[] {
  const counts = new Map<string, { readonly security: JsonValue[]; count: number }>();
  for (const { access } of operations) {
    const security = securityOf(access);
    const text = JSON.stringify(security);
    const { count } = counts.get(text) ?? { count: 0 };
    counts.set(text, { security, count: count + 1 });
  }
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count);
  return most?.security ?? [];
}

function schemesOf({ apiKey, isSigned, roles }: Access): readonly string[] {
  return [
    ...(apiKey === null ? [] : ['apiKey']),
    ...(isSigned ? ['signature'] : []),
    ...(roles === null ? [] : ['bearer']),
  ];
}

/** The description, the permitted callers, and the action in the audit log. */
function descriptionOf({ description, access, action }: Operation): string {
  const facts = [
    access.roles === null || access.roles === PANEL_ROLES ? undefined : `Roles: ${access.roles.join(', ')}.`,
    access.apiKey === 'write' ? 'Needs an API key of scope `write`.' : undefined,
    action === null ? undefined : `Audit log: \`${action}\`.`,
  ].filter((fact) => fact !== undefined);
  return [description, facts.join(' ')].filter((part) => part !== undefined && part !== '').join('\n\n');
}

function success(operation: Operation, referenceTo: SchemaComponents['referenceTo']): JsonObject {
  const { access, headers = {}, download, alternatives = [], response, example } = operation;
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    name === 'Set-Cookie' ? { $ref: '#/components/headers/RefreshCookie' } : textHeader(text),
  ]);
  const all = {
    ...(access.limit !== null && access.limit !== 'failures' && RATE_LIMIT_HEADERS),
    ...Object.fromEntries(described),
  };
  return {
    description: 'OK',
    ...(Object.keys(all).length > 0 && { headers: all }),
    content: {
      ...(download === undefined && { 'application/json': contentOf(referenceTo(response), example.response) }),
      ...(download !== undefined && fileContent(download)),
      ...Object.assign({}, ...alternatives.map(fileContent)),
    },
  };
}

/** Binary content gets no type, because clients would decode it as text. */
function fileContent({ mediaType, description }: FileContent): JsonObject {
  const isText = TEXTS.test(mediaType);
  return {
    [mediaType]: { schema: { ...(isText ? { type: 'string' } : { contentMediaType: mediaType }), description } },
  };
}

const TEXTS = /^text\/|^application\/(?:x-ndjson|pem-certificate-chain)$/;

function contentOf(schema: JsonObject, example: JsonValue | undefined): JsonObject {
  return { schema, ...(example !== undefined && { example }) };
}
