/** Shell functions for the panel API: one reads a member of a response, one sends a request. */
export const HELPERS = `member() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
panel() { # METHOD PATH [BODY]
  curl -sS --fail-with-body -X "$1" "$BASE/api/v1$2" -H "Authorization: Bearer $TOKEN" \${3:+-H 'Content-Type: application/json' -d "$3"}
}
`;

/** Publishes the texts and the configuration of the site $SITE. */
export const PUBLISHING = `# A document, and a version of it: drafted, published (it can never change from here on), and made the one that consents name.
DOCUMENT=$(panel POST "/sites/$SITE/documents" '{"slug":"cookie-policy","kind":"cookie_policy"}' | member data.id)
VERSION=$(panel POST "/sites/$SITE/documents/$DOCUMENT/versions" \\
  '{"language":"en","title":"Cookie policy","media_type":"text/markdown","content":"# Cookies\\n\\nWe count visits."}' | member data.id)
panel POST "/sites/$SITE/documents/$DOCUMENT/versions/$VERSION/publish" | member data.state
panel POST "/sites/$SITE/documents/$DOCUMENT/versions/$VERSION/activate" | member data.state

# A configuration: who answers for the site, the banner, a category and its cookie. Every change answers the draft's next revision.
panel PATCH "/sites/$SITE/configuration" '{"controller":{"legal_name":"Example Shop Ltd","contact":"privacy@shop.example"},
  "default_language":"en","languages":["en"],"validity_days":365,"revision":0}' | member data.problems
panel PUT "/sites/$SITE/banner-texts/en" '{"texts":{"title":"Cookies","accept":"Accept","reject":"Reject"},
  "withdrawal":"Change your choice at any time at the foot of each page."}' | member revision
panel POST "/sites/$SITE/categories" '{"key":"analytics","required":false,"title":{"en":"Statistics"},"purpose":{"en":"To count visits"},
  "lawful_basis":"consent","personal_data":["IP address"],"recipients":[],"retention_days":390}' | member revision
REVISION=$(panel POST "/sites/$SITE/cookies" '{"name":"_visits","provider":"shop.example","category":"analytics","party":"first",
  "duration_seconds":31536000,"purpose":{"en":"Tells one visit from the next"}}' | member revision)
panel POST "/sites/$SITE/configuration/publish" '{"revision":'$REVISION'}' | member data.number

`;

/** All steps from creating a site to verified evidence of a consent, in one shell. A test runs it. */
export const WALK = `## From nothing to evidence

Start the service with \`npm start\`. In another terminal, run these commands from the repository.
\`seed-demo\` makes a tenant with a plan and an owner to sign in as; everything else is made here.

\`\`\`bash
BASE=\${BASE:-http://127.0.0.1:8080}
node bin/consent-ledger.js admin seed-demo --json > demo.json
demo() { node -p "require('./demo.json').$1"; }
${HELPERS}
# Sign in, and see as whom.
LOGIN=$(node -p "JSON.stringify(require('./demo.json').panel_user)")
TOKEN=$(curl -sS "$BASE/api/v1/auth/login" -H 'Content-Type: application/json' -d "$LOGIN" | member data.access_token)
panel GET /auth/me | member data.role

# A site. This TXT record in the DNS proves whose the domain is; then POST …/domain-verification verifies it.
# shop.example is in no DNS, so the operator of the service vouches for it.
SITE=$(panel POST /sites '{"name":"Shop","domain":"shop.example"}' | member data.id)
panel GET "/sites/$SITE/domain-verification" | member data.dns_record
node bin/consent-ledger.js admin site verify "$SITE"

# A key for the shop's backend: shown this once.
KEY=$(panel POST "/sites/$SITE/api-keys" '{"name":"backend of the shop","scope":"write"}' | member data.key)

${PUBLISHING}# A consent, as the shop's backend records it (docs/sdk-backend.md).
BASE=$BASE KEY=$KEY VERSION=$VERSION node --input-type=module <<'END'
import { readFileSync } from 'node:fs';
import { env } from 'node:process';
import { ConsentLedger } from '@consent-ledger/node';
const { BASE: baseUrl, KEY: apiKey, VERSION: document_version_id } = env;
const { api_user: user } = JSON.parse(readFileSync('demo.json', 'utf8'));
const ledger = new ConsentLedger({ baseUrl, apiKey, user, application: 'walk/1.0' });
const consent = { consent_type: 'cookie', decision: 'accepted', categories: { analytics: true }, visitor_id: 'visitor-1' };
console.log((await ledger.record({ ...consent, document_version_id })).consent_token);
END

# Find it by whose it is. It is time stamped within a minute (STAMP_INTERVAL_MS); evidence holds what is stamped.
search() { panel POST "/sites/$SITE/consents/search" '{"person":{"by":"visitor_id","value":"visitor-1"},"reason":"access request"}'; }
until [ "$(search | member 'data[0]?.state')" = stamped ]; do sleep 1; done

# Export in the background, download, and check without the service.
EXPORT=$(panel POST "/sites/$SITE/exports" '{"filter":{"visitor_id":"visitor-1"},"disclose":["visitor_id"],"reason":"access request"}' | member data.id)
until [ "$(panel GET "/sites/$SITE/exports/$EXPORT" | member data.state)" = finished ]; do sleep 1; done
panel GET "/sites/$SITE/exports/$EXPORT/package" > evidence.zip
node verifier-cli/bin/consent-verify.js check evidence.zip --tsa-ca "$(demo tsa_ca)" --ledger-key "$(demo ledger_key)"

# Erase the person, and read what that did. The package that the service kept is destroyed by it; evidence.zip is yours to delete.
ERASURE=$(panel POST "/sites/$SITE/erasures" '{"subject":{"by":"visitor_id","value":"visitor-1"}}' | member data.id)
until [ "$(panel GET "/sites/$SITE/erasures/$ERASURE" | member data.state)" = finished ]; do sleep 1; done
panel GET "/sites/$SITE/erasures/$ERASURE" | member 'data.statement.join("\\n")'
search | member data.length
\`\`\`
`;
