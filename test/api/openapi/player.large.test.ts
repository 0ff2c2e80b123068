import { randomUUID } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import { createUser } from '../../../src/accounts/users/users.js';
import {
  PANEL_API_OPERATIONS,
  panelDescription,
  TOOL_API_OPERATIONS,
  toolApiDescription,
} from '../../../src/api/openapi/descriptions.js';
import { EXAMPLE_VALUES } from '../../../src/api/server/example-values.js';
import type { Operation } from '../../../src/api/server/operation.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { closedDocument } from './closed-schemas.js';

const Members = z.record(z.string(), z.unknown());
const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  description: z.string().optional(),
});
type Schema = z.infer<typeof Schema>;
const Described = z.object({
  parameters: z.array(Members).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: Members })) }).optional(),
  responses: Members,
});
/** The operations of a path, each with the parameters that the path states for all. */
const Path = z
  .object({ parameters: z.array(Members).default([]) })
  .catchall(Described.optional())
  .transform(({ parameters, ...methods }) =>
    Object.fromEntries(
      Object.entries(methods).flatMap(([method, one]) =>
        one === undefined ? [] : [[method, { ...one, parameters: [...parameters, ...one.parameters] }]],
      ),
    ),
  );
const Document = z.object({
  info: z.object({ description: z.string() }),
  paths: z.record(z.string(), Path),
  components: z.record(z.string(), Members),
});
const Refusal = z.object({
  code: z.string(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});

/** Requests of one user in a minute are limited, so that many users ask. */
const USERS = 30;
const REQUESTS_OF_USER = 250;

/** These end what the others need, or have a limit of attempts that all would use up. */
const LEFT_OUT = new Set(['logout', 'changePassword', 'endSignIn', 'endUserSignIns']);

const FORMATS = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  email: /^[a-z]+@[a-z]+\.[a-z]+$/,
  uri: /^https:\/\/[^\s/]+\//,
};

/** What a request changes of the example. */
interface Change {
  readonly what: string;
  readonly place: 'path' | 'query' | 'body';
  readonly name: string;
  readonly value: unknown;
  readonly schema: Schema;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly content: unknown;
  /** What was sent. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Problems that a schema cannot state, and what the description of the field, or the change, says of them. */
const SAID: readonly (readonly [problem: RegExp, said: RegExp])[] = [
  [/^has none of the permitted forms/, /a text, a list or an object|IPv4/],
  [/base64/, /base64/],
  [/is required|is missing/, /required/i],
  [/is not known here/, /must be absent|unless/],
  [/is unknown to this site/, /does not have is refused/],
  [/must be after from/, /after `from`/],
  [/must be at most 1000|must be given for Parquet/, /at most 1,000/],
  [/must be a cursor/, /next_cursor/],
  [/^must be one of|^is not one of|must name each field once/, /Names of fields|list of names/],
  [/must be a language tag|needs format=csv/, /language tag/],
  [/must be "?all"?|^must not be empty$/, /`all`/],
  [/is not the current password/, /current password/],
  [/is not a next_cursor/, /next_cursor/],
  [/must be an origin/, /as browsers write them/],
  [/must be an IP address/, /addresses and ranges/],
  [/must be in lower case and without parameters/, /in lower case and without parameters/],
  [/must have 1 to/, /: 1 to/],
  [/no public address/, /a public address/],
  [/^must not be empty$|^must have at least/, /White space around names is removed/],
  [/must contain at least one member|must contain role/, /at least one member/],
  [/no category/, /must be in the draft/],
  [/must be a consent token/, /consent token, a proof hash, or a UUID/],
  [/must be a UUID/, /UUID/],
  [/not a link to a draft/, /link to the draft/],
  [/U\+0000/, /not contain U\+0000/],
  [/requires category/, /requires `category`/],
  [/must not repeat|must not consist|most common|e-mail address of the user/, /common/],
];

describe.each([
  ['/openapi/tool-api.json', toolApiDescription(), TOOL_API_OPERATIONS],
  ['/openapi.yaml', panelDescription(), PANEL_API_OPERATIONS],
] as const)('%s, held against the service', (path, description, operations) => {
  const document = Document.parse(description);
  const closed = Document.parse(closedDocument(description));
  const ajv = new Ajv2020({
    strict: false,
    formats: FORMATS,
  });
  ajv.addSchema({ ...description, $id: 'open' }).addSchema({ ...closed, $id: 'closed' });
  const checks = new Map<string, ValidateFunction>();
  const fits = (root: 'open' | 'closed', schema: unknown, value: unknown): string | null => {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${root}#/`);
    const check = checks.get(text) ?? ajv.compile(JSON.parse(text));
    checks.set(text, check);
    return check(value) ? null : ajv.errorsText(check.errors);
  };
  const resolved = (value: unknown): Record<string, unknown> => {
    const { $ref, ...rest } = Members.parse(value);
    if (typeof $ref !== 'string') return rest;
    const [, , kind = '', name = ''] = $ref.split('/');
    return { ...resolved(document.components[kind]?.[name]), ...rest };
  };

  let app: RunningApp;
  let demo: SeededDemo;
  let backend: string;
  const tokens: string[] = [];
  let sent = 0;
  beforeAll(async () => {
    app = await startApp('serve', { PUBLIC_VERIFY_LIMIT: '1000000' });
    demo = await app.seed();
    const { adminPool } = app.service.installation;
    const signIn = async (credentials: object): Promise<string> => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(credentials);
      const answer = await fetch(`${app.url}/api/v1/auth/login`, { method: 'POST', headers, body });
      return z.object({ data: z.object({ access_token: z.string() }) }).parse(await answer.json()).data.access_token;
    };
    backend = await signIn(demo.api_user);
    for (let number = 0; number < USERS; number += 1) {
      const login = { email: `owner-${number}@player.example`, password: `the long password of ${number}` };
      await createUser(adminPool, { ...login, tenantId: demo.tenant_id, role: 'owner' });
      tokens.push(await signIn(login));
    }
    await app.change('update subscriptions set rate_limit_per_minute = 1000000, consent_quota = 1000000', []);
    await app.change('update sites set config_revision = config_revision + 1', []);
  });
  afterAll(() => app?.stop());

  const version = (): string => {
    const policy = demo.documents.find(({ slug }) => slug === 'cookie-policy');
    return policy?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
  };
  const inPlace = (text: string): string => text.replaceAll(EXAMPLE_VALUES.versionId, version());

  /** Values of a member: some that its schema permits, at its bounds, and some that it does not. */
  function valuesFor(schema: Schema): readonly unknown[] {
    const { minimum, maximum, maxLength, maxItems } = schema;
    return [
      ...[null, true, -1, 0, 1, 1.5, '', 'x', ' ', 'ü'.repeat(40), '\u0000', [], ['x'], {}, { x: 1 }],
      ...[randomUUID(), randomUUID().toUpperCase(), '2026-01-31T12:00:00Z', '2026-01-31t12:00:00z', 'a@b.example'],
      ...(schema.enum ?? []),
      ...(minimum === undefined ? [] : [minimum - 1, minimum, minimum + 1]),
      ...(maximum === undefined ? [] : [maximum - 1, maximum, maximum + 1]),
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)]),
      ...(maxItems === undefined || maxItems > 200 ? [] : [Array.from({ length: maxItems + 1 }, () => 'x')]),
    ];
  }

  /** Members of a schema, with those of the schemas that it extends. */
  function membersOf(schema: unknown): readonly (readonly [string, Schema])[] {
    const { properties, allOf } = resolved(schema);
    const own = Object.entries(Members.parse(properties ?? {}));
    const extended = z
      .array(z.unknown())
      .parse(allOf ?? [])
      .flatMap(membersOf);
    return [...extended, ...own.map(([name, one]) => [name, Schema.parse(resolved(one))] as const)];
  }

  function* changesOf({ parameters, requestBody }: z.infer<typeof Described>): Generator<Change> {
    for (const parameter of parameters) {
      const { name, in: place, schema, description: words } = resolved(parameter);
      const ofParameter = Schema.parse({ description: words, ...resolved(schema) });
      const id = randomUUID();
      const inPath = ['x', 'ü', '\u0000', '0', '1', '+1', '0x1', '007', '%', 'a/b', id, id.toUpperCase()];
      const inQuery = [...valuesFor(ofParameter), '0x1', '+1', '1e1', '007', '%', 'a/b'];
      for (const value of place === 'path' ? inPath : inQuery) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        yield {
          what: text,
          place: place === 'path' ? 'path' : 'query',
          name: String(name),
          value: text,
          schema: ofParameter,
        };
      }
    }
    const body = requestBody?.content['application/json'];
    if (body === undefined) return;
    for (const [name, schema] of membersOf(body.schema)) {
      yield { what: 'absent', place: 'body', name, value: undefined, schema };
      for (const value of valuesFor(schema)) yield { what: JSON.stringify(value), place: 'body', name, value, schema };
    }
    yield { what: '1', place: 'body', name: 'unknown_member', value: 1, schema: {} };
  }

  function changed({ example }: Operation, { place, name, value }: Change) {
    const path: Record<string, string> = { number: '1', language: 'en', ...example.path, site_id: demo.site.id };
    const query: Record<string, string> = { ...example.query };
    const body =
      example.body === undefined ? undefined : Members.parse(JSON.parse(inPlace(JSON.stringify(example.body))));
    if (place === 'path') path[name] = String(value);
    if (place === 'query') query[name] = String(value);
    if (place === 'body' && body !== undefined) body[name] = value;
    return { path, query, body };
  }

  async function play(operation: Operation, change: Change): Promise<Answer> {
    const { access, method } = operation;
    const { path, query, body } = changed(operation, change);
    const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? randomUUID()),
    );
    const text = body === undefined ? undefined : JSON.stringify(body);
    const search = new URLSearchParams(query).toString();
    const panelToken = tokens[Math.floor(sent / REQUESTS_OF_USER) % USERS] ?? '';
    sent += 1;
    const headers = {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(access.apiKey !== null && { 'x-api-key': access.isSigned ? demo.keys.write : demo.keys.read }),
      ...(access.isSigned && signedHeaders(demo.keys.write, filled, text ?? '')),
      ...(access.roles !== null && { authorization: `Bearer ${access.apiKey === null ? panelToken : backend}` }),
    };
    const url = `${app.url}${filled}${search === '' ? '' : `?${search}`}`;
    const answer = await fetch(url, {
      method: method.toUpperCase(),
      headers,
      ...(text !== undefined && { body: text }),
    });
    const type = answer.headers.get('content-type') ?? '';
    const content: unknown = type.startsWith('application/json') ? await answer.json() : await answer.arrayBuffer();
    return { status: answer.status, type, content, body };
  }

  /** What is wrong with an answer. */
  function judge(operation: Operation, change: Change, { status, type, content }: Answer): readonly string[] {
    const ofClosed = closed.paths[operation.path]?.[operation.method];
    const responses = Members.parse(ofClosed?.responses);
    const response = Members.parse(responses[String(status)] ?? responses.default);
    const component =
      String(response.$ref ?? '')
        .split('/')
        .at(-1) ?? '';
    const answer = response.$ref === undefined ? response : Members.parse(closed.components.responses?.[component]);
    const contents = z.record(z.string(), z.object({ schema: z.unknown() })).parse(answer.content);
    const json = contents['application/json'];
    const isJson = type.startsWith('application/json');
    const problem = !isJson ? null : json === undefined ? 'no JSON is described' : fits('closed', json.schema, content);
    const wrong = problem === null ? [] : [problem];
    if (status < 400) return wrong;
    const { code, errors = [] } = Refusal.parse(content);
    // A slash in a path leads to another route.
    if (code === 'ROUTE_NOT_FOUND' && change.place === 'path') return [];
    const isListed = z.array(z.string()).safeParse(answer['x-error-codes']).data?.includes(code) ?? false;
    const stated = Object.entries(ERROR_CODES).find(([name]) => name === code)?.[1].status;
    return [
      ...wrong,
      ...(isListed && stated === status && status < 500 ? [] : [`${code} is not described`]),
      ...(code === 'VALIDATION_ERROR' && errors.length === 0 ? ['names no field'] : []),
    ];
  }

  /** The invalid fields of a request that its schemas permit, and whose descriptions do not say what is wrong. */
  function unsaidOf({ requestBody }: z.infer<typeof Described>, change: Change, { status, content, body }: Answer) {
    if (status !== 422) return [];
    const { code, errors = [] } = Refusal.parse(content);
    const { place, schema, value } = change;
    const isNumber = place !== 'body' && schema.type === 'integer' && /^-?(?:0|[1-9]\d{0,14})$/.test(String(value));
    const given = place === 'body' ? body : isNumber ? Number(value) : value;
    const asked = place === 'body' ? requestBody?.content['application/json']?.schema : schema;
    if (code !== 'VALIDATION_ERROR' || fits('open', asked, given) !== null) return [];
    const members = new Map(
      requestBody === undefined ? [] : membersOf(requestBody.content['application/json']?.schema),
    );
    return errors.flatMap(({ field, message }) => {
      const [name = ''] = field.split('.');
      const ofField = place === 'body' ? members.get(name)?.description : '';
      const words = `${ofField} ${schema.description} ${document.info.description}`;
      const isSaid = SAID.some(([problem, said]) => problem.test(message) && said.test(words));
      return isSaid ? [] : [`${field}: ${message}`];
    });
  }

  it('answers as described, and refuses nothing that is permitted without a word about it', async () => {
    const wrong: string[] = [];
    const unsaid = new Set<string>();
    for (const operation of operations.filter(({ id }) => !LEFT_OUT.has(id))) {
      const described = document.paths[operation.path]?.[operation.method];
      if (described === undefined) throw new Error(`${operation.id} is not described`);
      for (const change of changesOf(described)) {
        const answer = await play(operation, change);
        const label = `${operation.id} ${change.place} ${change.name}=${change.what.slice(0, 40)}: ${answer.status}`;
        for (const problem of judge(operation, change, answer)) wrong.push(`${label} ${problem}`);
        for (const problem of unsaidOf(described, change, answer)) unsaid.add(`${operation.id} ${problem}`);
      }
    }
    console.log(`${path}: ${sent} requests`);
    expect(wrong).toEqual([]);
    expect([...unsaid]).toEqual([]);
  });
});
