/** API keys of a site and the code that uses them. */
export const keys = {
  title: 'API & Integrations',
  lead: 'Keys with which your pages and your backend record consents.',
  list: 'API keys',
  add: 'Create a key',
  emptyTitle: 'This site has no API key yet',
  emptyText: 'Create a publishable key for your pages. Create a secret key if your backend records consents.',
  emptyReader: 'An owner or administrator of your organisation creates keys.',
  name: 'Name',
  nameHint: 'Where the key is used, for example “pages of the shop”.',
  kind: 'Where the key is used',
  kinds: {
    publishable: 'Publishable: in browsers only',
    secret: 'Secret: in your backend only',
  },
  places: { publishable: 'Browsers', secret: 'Your backend', both: 'Both' },
  usedIn: 'Used in',
  scope: 'Rights',
  scopes: { write: 'Record consents', read: 'Read only' },
  mode: 'Records',
  modes: { live: 'Live', test: 'Test' },
  testText:
    'With a test key, a page or backend sees and changes test records alone. They are no evidence, and last 30 days. On your domain, on the allowed origins and on every host that recorded with a live key, a page with a test key permits nothing optional: a live site would collect no consent. Pages on localhost and 127.0.0.1 are excepted.',
  testOnLiveHost: (key: string, host: string) =>
    `A page on ${host} has the test key “${key}”. It permits nothing optional and collects no consent. Give it a live key.`,
  key: 'Key',
  lastUsed: 'Last used',
  show: 'Show',
  cannotShow: 'It cannot be shown. Replace it, or create a new one.',
  states: {
    active: 'Active',
    unused: 'Never used',
    idle: 'Not used lately',
    expired: 'Replaced, expired',
    revoked: 'Revoked',
  },
  replaced: 'Replaced, works',
  until: 'until',
  newKey: 'Your new key',
  rotate: 'Replace',
  rotateText: 'A new key is created. The old one continues to work for the time below, so that you can exchange it.',
  grace: 'The old key works for',
  graces: { none: 'not at all', day: 'one day', week: 'one week', month: '30 days' },
  revoke: 'Revoke',
  revokeText:
    'The key stops working within a second. Pages and backends that use it can no longer record consents. A revoked key cannot be restored.',
  shownAgain: 'Everybody can read this key in the source of your pages. You can see it again in the list.',
  done: 'I have copied the key',
  conflicts: 'Idempotency keys used twice',
  conflictsLead:
    'In the last 30 days, a client sent an idempotency key again with another consent. The service kept the first consent and did not record the other one.',
  conflictsAdvice:
    'Use a new key for each action of the person: a withdrawal under the key of its consent is not recorded. Compare each kept consent with what your system holds, and send the missing decision with a new key.',
  keptConsent: 'Kept consent',
  conflictKey: 'API key',
  notRecorded: 'Not recorded',
  firstConflict: 'First',
  lastConflict: 'Last',
  integrate: 'Put it to use',
  integrateLead:
    'The newest publishable key for live records is filled in. A secret key is filled in only if you have just created it; otherwise put your key in its place.',
  placeholder: 'YOUR-KEY',
  browser: 'On your pages',
  browserText:
    'Add this line to the head of each page. It shows the banner and records the choice. Use a publishable key.',
  gated: 'A script that waits for a permission has the type text/plain and names its category:',
  policy: 'Content security policy',
  policyText:
    'If your pages have a content security policy, it must permit the script and its requests. This one is complete for a page that otherwise loads from its own origin alone:',
  policyByOrigin: 'Content security policy by the origin of the service',
  policyByNonceText: (nonce: string) =>
    `If your server makes a nonce for each answer, put it in place of ${nonce}, and add it to the script above and to scripts that wait (nonce="${nonce}"). Scripts within the page run only this way:`,
  policyByNonce: 'Content security policy by a nonce',
  policyOfYours:
    'The banner needs no style, image or frame. What waits for a permission is yours: add the addresses of its scripts to script-src, those of its frames to frame-src, and so on. This page does not know them.',
  trustedTypes:
    'With require-trusted-types-for, the banner works as it is. Scripts that wait then need a default policy of your page.',
  node: 'In your backend (Node)',
  nodeText: 'Install @consent-ledger/node. Use a secret key, and a user with the role API user.',
  others: 'For other languages, use the description of the interface:',
};
