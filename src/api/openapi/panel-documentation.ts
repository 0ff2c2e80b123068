import { PANEL_OPERATIONS } from '../panel/operations.js';
import { sectionOf } from './panel-documentation/section.js';
import { signInRoutes } from './panel-documentation/sign-in-routes.js';
import { WALK } from './panel-documentation/walk.js';

/** @returns the text of docs/panel-api.md: how the panel API works, and tables of its operations with the bodies that they take */
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

Everything that is done in the panel is done by this API, below \`/api/v1\`. Its OpenAPI 3.1 description is at \`/openapi.yaml\`, made from the schemas
that requests and answers are checked with. This page is made from the same table (\`src/api/panel/operations.ts\`) by \`npm run openapi\`; a test holds them
together. The Tool API, for SDKs and backends, is in [http-api.md](http-api.md); what holds of
sign-ins, users and invitations in [sign-in.md](sign-in.md), of exports in [evidence-exports.md](evidence-exports.md), of erasures in [erasure.md](erasure.md).
\`/openapi.yaml\` is the authoritative description of the routes of \`/api/v1/auth\` too, which the Tool API's repeats for backends.

## Signing in

\`\`\`bash
curl -s "$URL/api/v1/auth/login" -H 'content-type: application/json' -d '{"email":"…","password":"…"}'
\`\`\`

answers an access token, for \`Authorization: Bearer …\`, and a refresh token. \`POST /api/v1/auth/refresh\` gives new ones for a refresh token, which is
used up by that: the same refresh token a second time ends the whole sign-in, since one of the two who held it was not meant to. A client that never saw
the answer to a refresh signs in again. \`POST /api/v1/auth/logout\` ends the sign-in. The keys that tokens are signed with are at
\`/.well-known/jwks.json\`.
`;

const ROLES = `| Role | May |
|---|---|
| owner | everything, users and owners included |
| admin | set up sites, keys, texts and banners; invite and manage admins and viewers, and nobody who reaches personal data (owner, dpo, api_user) |
| dpo | read everything, see personal data, export evidence, erase; change nothing else |
| viewer | read, without personal data |
| api_user | use the S2S routes of the Tool API, and nothing of the panel |
`;

const RULES = `## What holds for every route

- Requests and answers are JSON; what a schema does not name is refused (422 \`VALIDATION_ERROR\`, with the fields in \`errors\`).
- A body is \`application/json\` without content coding (else 415 \`UNSUPPORTED_MEDIA_TYPE\`), of at most 64 KiB (else 413 \`PAYLOAD_TOO_LARGE\`); below
  \`/api/v1/auth\`, at most 4 KiB.
- The order of the checks: bearer token (401), 300 requests a minute of one user (429 \`RATE_LIMIT_EXCEEDED\`), role (403 \`INSUFFICIENT_ROLE\`); once
  the body is there, sign-in and role again, as it may be long under way (for a change, in its transaction); the schemas (422), whether the site in the path is the tenant's (404 \`SITE_NOT_FOUND\`), and only then anything else. What belongs to another tenant is
  answered exactly like what does not exist.
- Lists come in pages of \`limit\` (1 to 100, else 50) items: \`{ "data": […], "next_cursor": "…" }\`. Pass \`next_cursor\` as \`cursor\` for the next page;
  it is null on the last.
- Times are ISO 8601, UTC. Ids are UUIDs.
- A change and its line of the audit log are written in one transaction, before the answer is sent. The log is append-only: a trigger refuses
  anything else to every role, the tables' owner and superusers included, unless one of these two first drops or disables the trigger. It names data
  subjects by event ids only.
- The draft of a site's configuration has one \`revision\` for all of it, which each answer names: 0 before the first change, one more with each. What is
  marked **Needs \`revision\`** must name the one that it was read with; what is marked **Takes** it may. Another than the draft's is answered 409
  \`WRONG_STATE\`: somebody else was faster. Read the draft again.
- A change that finds everything as it should be succeeds, and leaves its line in the audit log: \`changed\` is \`[]\` there, or \`false\`.
- Personal identifiers (a visitor id, an e-mail address) travel in bodies, never in URLs, which end up in logs.

## Operations

Paths are below \`/api/v1\`. Below each table, the bodies of those that take one, as examples.
`;
