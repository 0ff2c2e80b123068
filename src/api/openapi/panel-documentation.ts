import type { JsonObject } from '../../../schemas/json/json-value.js';
import { PASSKEY_OPERATIONS } from '../auth/passkeys.js';
import { SECOND_FACTOR_OPERATIONS } from '../auth/second-factor.js';
import { AUTH_OPERATIONS } from '../auth/sign-in.js';
import { SIGN_UP_OPERATIONS } from '../auth/sign-up.js';
import { PANEL_OPERATIONS } from '../panel/operations.js';
import type { Operation } from '../server/operation.js';
import { parameterSchemas } from './json-schemas.js';
import { WALK } from './panel-documentation/walk.js';

/**
 * @returns the text of docs/panel-api.md: how the panel API works, and tables of its operations
 *   with example bodies
 */
export function panelDocument(): string {
  const tags = [...new Set(PANEL_OPERATIONS.map(({ tag }) => tag))];
  const sections = tags.map((tag) =>
    sectionOf(
      tag,
      PANEL_OPERATIONS.filter((operation) => operation.tag === tag),
    ),
  );
  return [SIGN_IN, signInRoutes(), ROLES, WALK, RULES, ...sections].join('\n');
}

const SIGN_IN = `# The panel API

After reading this page you can administer the service by its API, below \`/api/v1\`: set up a site,
publish documents and configurations, find and verify consents, export evidence and erase personal
data. [The walk below](#from-nothing-to-evidence) does all of it in one shell.

The OpenAPI 3.1 document of this API is \`/openapi.yaml\`. This page is generated from the same table
of operations (\`npm run openapi\`). The Tool API, for SDKs and backends, is in
[http-api.md](http-api.md). The rules for sign-ins, users and invitations are in
[sign-in.md](sign-in.md), for exports in [evidence-exports.md](evidence-exports.md), for erasures in
[erasure.md](erasure.md).

## Signing in

\`\`\`bash
curl -s "$URL/api/v1/auth/login" -H 'content-type: application/json' -d '{"email":"…","password":"…"}'
\`\`\`

The response contains an access token, for \`Authorization: Bearer …\`, and a refresh token. \`POST
/api/v1/auth/refresh\` exchanges a refresh token for new tokens. After a lost response, repeat it:
the same client gets the same tokens within 10 seconds. A later second use ends the whole sign-in,
because two parties know the token. \`POST /api/v1/auth/logout\` ends the sign-in.
\`/.well-known/jwks.json\` has the public keys of access tokens.
`;

const ROLES = `| Role | Rights |
|---|---|
| owner | everything, including users and owners |
| admin | set up sites, keys, documents and banners; invite and manage admins and viewers, but no users who can read personal data (owner, dpo, api_user) |
| dpo | read everything, see personal data, export evidence, erase; no other changes |
| viewer | read, without personal data |
| api_user | use the S2S routes of the Tool API, and nothing in the panel |
`;

const RULES = `## Rules for every route

- Requests and responses are JSON. An unknown member or parameter is refused (422
  \`VALIDATION_ERROR\`, with the fields in \`errors\`).
- A body is \`application/json\` without a content coding (else 415 \`UNSUPPORTED_MEDIA_TYPE\`), of at
  most 64 KiB (else 413 \`PAYLOAD_TOO_LARGE\`); below \`/api/v1/auth\`, of at most 4 KiB.
- Order of the checks: bearer token (401), 300 requests a minute of one user (429
  \`RATE_LIMIT_EXCEEDED\`), role (403 \`INSUFFICIENT_ROLE\`). Once the body has arrived: sign-in and
  role again (for a change, within its transaction), the schemas (422), and whether the site in the
  path belongs to the tenant (404 \`SITE_NOT_FOUND\`). A resource of another tenant has the same
  response as one that does not exist.
- Lists come in pages of \`limit\` (1 to 100, 50 if absent) items:
  \`{ "data": […], "next_cursor": "…" }\`. Pass \`next_cursor\` as \`cursor\` for the next page; it is
  null on the last one.
- Times are ISO 8601 in UTC. Ids are UUIDs.
- A change and its audit entry are written in one transaction, before the response is sent. A
  search for a person, a disclosure and a download have their audit entry before the first value
  is sent. The log is append-only: a trigger refuses other statements of every role, including the
  owner of the tables and superusers, unless one of these two first drops or disables the trigger.
  The log identifies data subjects by event ids only.
- The draft of a site's configuration has one \`revision\`, which every response contains: 0 before
  the first change, increased by one with each. Operations marked **Requires \`revision\`** need the
  one that was read; those marked **Accepts** can have it. 409 \`WRONG_STATE\` means that another
  user changed the draft meanwhile: read it again.
- A change that finds everything as requested succeeds, and has an audit entry with \`changed\` \`[]\`
  or \`false\`.
- Personal identifiers (a visitor id, an e-mail address) are in bodies, never in URLs, because
  URLs are logged.

## Operations

Paths are below \`/api/v1\`. After each table: example bodies of the operations that have one.
`;

/** Maximum length of an example on one line, in characters. */
const MAX_LINE = 140;

/** @returns the documentation of the operations of one tag: a table, and an example of each body */
function sectionOf(tag: string, operations: readonly Operation[]): string {
  const bodies = operations.flatMap(({ method, path, example }) =>
    example.body === undefined ? [] : [`${method.toUpperCase()} ${belowPrefix(path)}\n${shownBody(example.body)}`],
  );
  return `### ${tag}

| Method | Path | Summary | Roles | Audit log |
|---|---|---|---|---|
${operations.map(rowOf).join('\n')}
${bodies.length === 0 ? '' : `\n\`\`\`text\n${bodies.join('\n\n')}\n\`\`\`\n`}`;
}

function rowOf(operation: Operation): string {
  const { method, path, summary, description, access, action } = operation;
  const text = [`${summary}.`, description, revisionOf(operation)].filter(Boolean).join(' ').replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${belowPrefix(path)}\` | ${text} | ${access.roles?.join(', ')} | ${action === null ? '' : `\`${action}\``} |`;
}

/** Returns how a request states the revision of the draft, or null if it does not. */
function revisionOf({ body, query }: Operation): string | null {
  const inBody = parameterSchemas(body);
  if (inBody.required.includes('revision')) return '**Requires `revision`.**';
  if ('revision' in inBody.properties) return '**Accepts `revision`.**';
  return 'revision' in query.shape ? '**Accepts `?revision=`.**' : null;
}

/** Formats an example on one line, or with one line per member if it is long. */
function shownBody(body: JsonObject): string {
  const line = JSON.stringify(body);
  if (line.length <= MAX_LINE) return line;
  const members = Object.entries(body).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n${members.join(',\n')}\n}`;
}

function belowPrefix(path: string): string {
  return path.replace(/^\/api\/v1/, '');
}

/** @returns a table of the sign-in routes, with example bodies */
function signInRoutes(): string {
  const rows = [...AUTH_OPERATIONS, ...SECOND_FACTOR_OPERATIONS, ...PASSKEY_OPERATIONS, ...SIGN_UP_OPERATIONS].map(
    ({ method, path, summary, access, example, body: schema }) => {
      const body = example.body === undefined ? '' : `\`${JSON.stringify(example.body)}\``;
      return `| ${method.toUpperCase()} | \`${path}\` | ${summary} | ${access.roles !== null ? 'access token' : 'none'} | ${body}${example.body !== undefined && schema.safeParse(undefined).success ? ', or none' : ''} |`;
    },
  );
  return `| Method | Path | Summary | Bearer | Body |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
