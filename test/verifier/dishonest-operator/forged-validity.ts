import { type Draft, indexOfTag, type Request, tagLines } from './export.js';
import { type Forgery, leaveOut, lineOf } from './forgery.js';
import { coverOf, erasureTag, type LedgerLies, type Plan, type PlannedEvent, sealedAt } from './ledger.js';
import {
  at,
  canonical,
  hex,
  instant,
  type Json,
  type JsonRecord,
  sha256,
  sha256Hex,
  utf8,
  uuid,
} from './primitives.js';
import {
  batchOf,
  CATEGORY,
  changeConfiguration,
  configuration,
  consentId,
  erasure,
  eventOf,
  notice,
  OTHER_SITE,
  publication,
  RULES,
  SERVICE,
  SITE,
  stateChange,
  TEXTS,
  versionId,
} from './world.js';

const VERSION = { check: 'document.version', verdict: 'invalid' } as const;
const CONFIGURATION = { check: 'document.configuration', verdict: 'invalid' } as const;
const IN_FORCE = { check: 'document.in-force', verdict: 'invalid' } as const;
const RECORD = { check: 'record.format', verdict: 'invalid' } as const;
const DAY = 86_400_000;
/** What makes a record of version 1 one that states its rule, periods and scope. */
const NOW = { v: 2, services: null, ask_again_at: null, rule_id: null, scope: 'device' };
const OBJECTION = {
  ...{ consent_type: 'objection', decision: 'rejected', categories: { analytics: false }, services: null },
  ...{ valid_until: null, ask_again_at: null },
};

const change = (label: string, members: JsonRecord): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    Object.assign(eventOf(plan, label).record, members);
  },
});

/** Removes an event from the ledger. */
function drop(plan: Plan, label: string): void {
  const number = batchOf(plan, label);
  const events = plan.batches.get(number) ?? [];
  plan.batches.set(
    number,
    events.filter((event) => event.label !== label || event.record.site_id !== SITE),
  );
}

/** Puts events at the end of a batch. */
function add(plan: Plan, number: number, ...events: readonly PlannedEvent[]): void {
  plan.batches.set(number, [...(plan.batches.get(number) ?? []), ...events]);
}

const hashOf = (record: JsonRecord): string => sha256Hex(canonical(record));

/** Addresses that are not on shop.example, or do not say so plainly. */
const RULE: JsonRecord = { id: 'britain', places: ['GB'], categories: { analytics: { rule: 'opt_in' } } };
const WRONG_ADDRESSES = [
  'https://evil.example/',
  'https://shop.example.evil.example/',
  'https://evilshop.example/',
  'https://shop.example@evil.example/',
  'https://shop.example:443/',
  'https://shop.example./',
  'https://SHOP.example/',
  'https://xn--shp-tna.example/',
  'https://shöp.example/',
  'http://shop.example/',
  'javascript:alert(1)',
];

function* texts(): Generator<Forgery> {
  const cases: readonly [string, Partial<Forgery>][] = [
    ['a text that was never published', change('alice 1', { document_hash: sha256Hex(TEXTS.forged) })],
    ['a version that was never published', change('alice 1', { document_version_id: uuid('no version') })],
    ['a version in another language', change('alice 1', { language: 'tr' })],
    ['the text of another version', change('alice 1', { document_hash: sha256Hex(TEXTS.second) })],
    ['the version of another site', change('alice 1', { document_version_id: versionId(OTHER_SITE, 1) })],
    [
      'a version that is published later',
      {
        ...change('alice 1', { document_version_id: versionId(SITE, 2), document_hash: sha256Hex(TEXTS.second) }),
        ...IN_FORCE,
      },
    ],
    [
      'a version that was retired before',
      {
        ...change('alice 4', { document_version_id: versionId(SITE, 1), document_hash: sha256Hex(TEXTS.first) }),
        ...IN_FORCE,
      },
    ],
    ['a version that was never activated', { plan: (plan) => drop(plan, 'activated 1'), ...IN_FORCE }],
    [
      'a version that is activated later',
      {
        plan: (plan) => {
          drop(plan, 'activated 1');
          add(plan, 7, stateChange('Activated', SITE, 1, sealedAt(plan, 7) - 6000));
        },
        ...IN_FORCE,
      },
    ],
    [
      'a version that was published twice',
      {
        plan: (plan) => {
          const twice = publication(SITE, 1, TEXTS.first, sealedAt(plan, 2) - 5000, { event_id: uuid('twice') });
          add(plan, 2, twice);
        },
      },
    ],
    [
      'a text whose bytes were changed',
      { draft: (draft) => void draft.files.set(`notices/${sha256Hex(TEXTS.first)}`, TEXTS.forged) },
    ],
    [
      'a text that is not in the package',
      {
        draft: (draft) => {
          draft.files.delete(`notices/${sha256Hex(TEXTS.first)}`);
        },
      },
    ],
    ['a version whose publication is left out', { choice: (choice) => leaveOut(choice, 'published 1') }],
    [
      'a version whose activation is left out',
      { choice: (choice) => leaveOut(choice, 'activated 1'), check: 'completeness.runs' },
    ],
  ];
  for (const [what, rest] of cases) yield { point: 'A8', name: `a consent names ${what}`, ...VERSION, ...rest };
}

function* configurations(): Generator<Forgery> {
  const cases: readonly [string, Partial<Forgery>][] = [
    ['a configuration that was never published', change('alice 1', { site_config_hash: sha256Hex('{}') })],
    [
      'a configuration that is published later',
      {
        plan: (plan) => {
          eventOf(plan, 'alice 1').record.site_config_hash = hashOf(eventOf(plan, 'configuration 2').record);
        },
        ...IN_FORCE,
      },
    ],
    [
      'the configuration of another site',
      {
        plan: (plan) => {
          const other = eventOf(plan, `configuration of ${OTHER_SITE}`, OTHER_SITE).record;
          eventOf(plan, 'alice 1').record.site_config_hash = hashOf(other);
        },
      },
    ],
    ['a category that its configuration does not have', change('alice 1', { categories: { marketing: true } })],
    [
      'a service that its configuration does not have',
      change('alice 3', { services: { analytics: { counter: true, maps: true, ads: true } } }),
    ],
    [
      'services under a category that does not have them',
      change('alice 3', { services: { other: { counter: true, maps: true } } }),
    ],
    [
      'services without one answer, under a category that does not exist',
      change('alice 3', { services: { analytics: { counter: true, maps: true }, nosuch: {} } }),
    ],
    [
      'services, although its configuration has no switches for them',
      { plan: (plan) => changeConfiguration(plan, 'configuration 2', { service_switches: false }) },
    ],
    [
      'a category that reads as a service of its configuration',
      change('alice 3', { categories: { 'analytics/maps': true }, services: null }),
    ],
    ['a configuration that is left out', { choice: (choice) => leaveOut(choice, 'configuration 1') }],
    [
      'a configuration whose text was changed',
      {
        draft: (draft) => {
          const { site_config_hash: hash } = lineOf(draft, 'alice 1').leaf.event.record;
          draft.files.set(`notices/${String(hash)}`, utf8('{}'));
        },
      },
    ],
  ];
  for (const [what, rest] of cases) yield { point: 'A8', name: `a consent names ${what}`, ...CONFIGURATION, ...rest };
}

/** Members of a consent's record with values that the format does not allow. */
const WRONG_MEMBERS: Readonly<Record<string, Json>> = {
  v: 0,
  hash_version: 1,
  proof_key_id: '',
  consent_type: 'with spaces',
  decision: 'maybe',
  categories: { analytics: 'yes' },
  language: 'e',
  document_version_id: 'version',
  document_hash: 'ABCDEF',
  site_config_hash: null,
  compliance_framework: 'own',
  created_at: '2026-02-30T00:00:00.000Z',
  valid_until: '2026-04-01',
  channel: 'telephone',
  api_key_id: null,
  identity_assurance: 'verified',
  approval_token_id: 'token',
  vouched: ['visitor_id', 'otp_verified'],
};

function* members(): Generator<Forgery> {
  for (const [name, wrong] of Object.entries(WRONG_MEMBERS))
    yield {
      point: 'A8',
      name: `a record has ${name} ${JSON.stringify(wrong)}`,
      ...change('alice 1', { [name]: wrong }),
      ...RECORD,
    };
  yield {
    point: 'A8',
    name: 'a record has a version that the format does not have',
    ...change('alice 1', { v: 3 }),
    check: 'record.format',
    verdict: 'indeterminate',
  };
  const services: readonly [string, string, JsonRecord][] = [
    ['a record of version 2 has no services', 'alice 1', { v: 2 }],
    ['a record of version 1 has services', 'alice 3', { v: 1 }],
    ['a record has services without an answer', 'alice 3', { services: { analytics: { counter: null } } }],
    [
      'a record permits a category, and refuses a service of it',
      'alice 3',
      { services: { analytics: { counter: true, maps: false } } },
    ],
  ];
  for (const [name, label, wrong] of services) yield { point: 'A8', name, ...change(label, wrong), ...RECORD };
  yield { point: 'A8', name: 'a record has a further member', ...change('alice 1', { note: 'x' }), ...RECORD };
  const upper = { api_key_id: uuid('api key').toUpperCase() };
  yield { point: 'A8', name: 'a record has a UUID in upper case', ...change('alice 1', upper), ...RECORD };
  yield {
    point: 'A8',
    name: 'a record is valid until a time before it was created',
    ...change('alice 1', { valid_until: '2026-03-01T00:00:00.000Z' }),
    ...RECORD,
  };
  const configured: readonly [string, JsonRecord][] = [
    [
      'a service has the key of a category',
      { categories: [{ ...CATEGORY, services: [{ ...SERVICE, key: 'analytics' }] }], cookies: [] },
    ],
    [
      'a service has a policy without TLS',
      { categories: [{ ...CATEGORY, services: [{ ...SERVICE, policy_url: 'http://a.example' }] }], cookies: [] },
    ],
    ['a cookie has a service that is not there', { categories: [CATEGORY] }],
    ...WRONG_ADDRESSES.map((url): [string, JsonRecord] => [`visitors withdraw at ${url}`, { withdrawal_url: url }]),
    ['two rules have one id', { rules: [RULE, { ...RULE, places: ['CH'] }] }],
    ['a rule is for no place', { rules: [{ ...RULE, places: [] }] }],
    ['a rule says what no rule says', { rules: [{ ...RULE, categories: { analytics: { rule: 'never' } } }] }],
    ['the time zone is no name', { time_zone: 'Europe/İstanbul' }],
  ];
  for (const [name, wrong] of configured)
    yield {
      point: 'A8',
      name: `in a configuration, ${name}`,
      plan: (plan) => changeConfiguration(plan, 'configuration 2', wrong),
      ...RECORD,
    };
  for (const label of ['configuration 1', 'published 1', 'activated 1', 'of carol 1'])
    yield { point: 'A8', name: `${label} has a further member`, ...change(label, { note: 'x' }), ...RECORD };
}

function* erasures(): Generator<Forgery> {
  const shown: Pick<Forgery, 'draft'> = {
    draft: (draft) => {
      const line = lineOf(draft, 'carol 1');
      line.disclosures = line.leaf.event.values.map(({ text }) => text);
    },
  };
  const mark = (label: string, place: { stream: string; revision: number } | null): Pick<Forgery, 'draft'> => ({
    draft: (draft) => {
      lineOf(draft, label).erased = place;
    },
  });
  const stream = `consents-${SITE}`;
  const proof = { check: 'erasure.proof', verdict: 'invalid' } as const;
  const values = { check: 'erasure.values', verdict: 'invalid' } as const;
  const cases: readonly [string, Partial<Forgery>, Pick<Forgery, 'check' | 'verdict'>][] = [
    ['the values of an erased record are disclosed', shown, values],
    ['the values of an erased record are disclosed to a person', { ...shown, request: { person: 'carol' } }, values],
    [
      'an erased record is not marked, and its values are disclosed',
      {
        draft: (draft) => {
          const line = lineOf(draft, 'carol 1');
          line.disclosures = line.leaf.event.values.map(({ text }) => text);
          line.erased = null;
        },
      },
      values,
    ],
    [
      'a record is marked as erased to withhold its values',
      {
        draft: (draft) => {
          const line = lineOf(draft, 'alice 1');
          line.erased = lineOf(draft, 'carol 1').erased;
          line.disclosures = [];
        },
      },
      proof,
    ],
    ['a record is marked as erased by an event that does not exist', mark('carol 1', { stream, revision: 99 }), proof],
    ['a record is marked as erased by a consent', mark('carol 1', { stream, revision: 0 }), proof],
    ['a record is marked as erased by a notice', mark('carol 1', { stream: `notices-${SITE}`, revision: 1 }), proof],
    [
      'a record is erased by an earlier event',
      {
        plan: (plan) => {
          add(plan, 2, erasure('early', SITE, sealedAt(plan, 2) - 5000, consentId('carol 1')));
          drop(plan, 'of carol 1');
        },
      },
      proof,
    ],
    [
      'a record is marked as erased, and the erasure is left out',
      { request: { person: 'carol' }, choice: (choice) => leaveOut(choice, 'of carol 1') },
      proof,
    ],
    [
      'a notice is marked as erased',
      mark('published 1', { stream, revision: 5 }),
      { check: 'disclosure.digest', verdict: 'invalid' },
    ],
  ];
  for (const [name, rest, caught] of cases) yield { point: 'A9', name, ...rest, ...caught };
}

/** Sets a time of a record to a number of days after it. */
const days = (label: string, name: string, after: number, more: JsonRecord = {}): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    const { record } = eventOf(plan, label);
    Object.assign(record, { ...more, [name]: instant(Date.parse(String(record.created_at)) + after * DAY) });
  },
});

/** Acts, rules and periods in records that state them. */
function* acts(): Generator<Forgery> {
  const objection = (members: JsonRecord): Pick<Forgery, 'plan'> => change('bob 3', { ...OBJECTION, ...members });
  const optOut = { consent_type: 'do_not_sell_opt_out', categories: null, services: null };
  const granted = { analytics: { counter: true, maps: false } };
  const cases: readonly [string, Partial<Forgery>, Pick<Forgery, 'check' | 'verdict'>][] = [
    ['a record names a rule that was never published', change('alice 3', { rule_id: 'elsewhere' }), CONFIGURATION],
    [
      'a record names one of two rules of one id',
      { plan: (plan) => changeConfiguration(plan, 'configuration 2', { rules: [...RULES, ...RULES] }) },
      CONFIGURATION,
    ],
    [
      'a record names a rule, and its configuration has none',
      change('carol 2', { ...NOW, rule_id: 'uk' }),
      CONFIGURATION,
    ],
    ['the id of a rule has another form', change('alice 3', { rule_id: 'UK' }), RECORD],
    ['an objection is accepted', objection({ decision: 'accepted' }), RECORD],
    ['an objection is partial', objection({ decision: 'partial' }), RECORD],
    ['an objection permits what it names', objection({ categories: { analytics: true } }), RECORD],
    ['an objection permits a service', objection({ services: granted }), RECORD],
    ['an objection names nothing', objection({ categories: {} }), RECORD],
    ['an objection that was taken back names categories', objection({ decision: 'withdrawn' }), RECORD],
    ['an objection ends', days('bob 3', 'valid_until', 180, OBJECTION), IN_FORCE],
    ['an objection is asked about again', days('bob 3', 'ask_again_at', 180, OBJECTION), IN_FORCE],
    ['an opt-out ends', days('bob 3', 'valid_until', 180, optOut), IN_FORCE],
    ['a withdrawal ends before the consent that it withdraws', days('alice 4', 'valid_until', 90), IN_FORCE],
    ['a partial consent ends a second early', days('bob 2', 'valid_until', 180 - 1 / 86_400), IN_FORCE],
    ['a partial consent ends a second late', days('bob 2', 'valid_until', 180 + 1 / 86_400), IN_FORCE],
    ['a withdrawal never ends', change('alice 4', { valid_until: null }), IN_FORCE],
    ['a consent ends early', days('alice 3', 'valid_until', 30), IN_FORCE],
    ['a consent has the validity of an earlier configuration', days('alice 3', 'valid_until', 180), IN_FORCE],
    ['a person who withdrew is asked again early', days('alice 4', 'ask_again_at', 30), IN_FORCE],
    ['a person who withdrew is asked again late', days('alice 4', 'ask_again_at', 181), IN_FORCE],
    ['a person who withdrew is never asked again', change('alice 4', { ask_again_at: null }), IN_FORCE],
    ['a person who consented is asked again', days('alice 3', 'ask_again_at', 180), IN_FORCE],
    ['a person was asked again before they consented', days('alice 3', 'ask_again_at', -1), IN_FORCE],
    [
      'a person who withdrew is asked again by the default of another configuration',
      { plan: (plan) => changeConfiguration(plan, 'configuration 2', { refusal_days: 400 }) },
      IN_FORCE,
    ],
    [
      'a withdrawal ends although an earlier consent never does',
      { plan: (plan) => changeConfiguration(plan, 'configuration 1', { validity_days: null }) },
      IN_FORCE,
    ],
  ];
  for (const [name, rest, caught] of cases) yield { point: 'A8', name, ...rest, ...caught };
}

/** Sets the validity of alice's first record, and what its configuration allows. */
function lengthen(plan: Plan, validity: number, days: number): void {
  const { record } = eventOf(plan, 'alice 1');
  record.valid_until = instant(Date.parse(String(record.created_at)) + validity);
  changeConfiguration(plan, 'configuration 1', { validity_days: days });
}

function* inForce(): Generator<Forgery> {
  const cases: readonly [string, Partial<Forgery>, Pick<Forgery, 'check' | 'verdict'>][] = [
    [
      'a consent names a configuration that was superseded before',
      {
        plan: (plan) => {
          const hash = hashOf(eventOf(plan, 'configuration 1').record);
          const before = { site_config_hash: hash, services: null, rule_id: null, scope: 'device' };
          Object.assign(eventOf(plan, 'alice 4').record, before);
        },
      },
      IN_FORCE,
    ],
    [
      'two configurations have one number',
      {
        plan: (plan) => {
          const time = sealedAt(plan, 2) - 5000;
          const other = configuration(SITE, 1, time, { event_id: uuid('again'), validity_days: 3650 });
          add(plan, 2, notice('configuration again', SITE, 'SiteConfigPublished.v1', other));
        },
      },
      IN_FORCE,
    ],
    ['the retirement of a version is omitted: two are active', { plan: (plan) => drop(plan, 'retired 1') }, IN_FORCE],
    [
      'two texts have one number',
      {
        plan: (plan) => {
          const event = eventOf(plan, 'published 2');
          event.record.number = 1;
        },
      },
      IN_FORCE,
    ],
    [
      'a version is activated twice',
      {
        plan: (plan) =>
          add(plan, 2, {
            ...stateChange('Activated', SITE, 1, sealedAt(plan, 2) - 5000),
            record: { ...stateChange('Activated', SITE, 1, sealedAt(plan, 2) - 5000).record, event_id: uuid('again') },
          }),
      },
      IN_FORCE,
    ],
    [
      'a consent is older than the publication of its text claims to be',
      {
        plan: (plan) => {
          const later = instant(sealedAt(plan, 3) + 400_000);
          for (const label of ['published 1', 'activated 1']) eventOf(plan, label).record.created_at = later;
        },
      },
      IN_FORCE,
    ],
    [
      'a consent claims a time before the publication of its text',
      change('alice 1', { created_at: '2026-03-02T07:54:50.000Z' }),
      IN_FORCE,
    ],
    [
      'a text requires an approval token, and the consent has none',
      change('published 1', { requires_approval_token: true }),
      IN_FORCE,
    ],
    [
      'a consent has vouched fields and no approval token',
      change('alice 1', { identity_assurance: null, approval_token_id: null, vouched: ['visitor_id'] }),
      RECORD,
    ],
    [
      'a consent is attested without an approval token',
      change('alice 1', { identity_assurance: 'tenant_attested', approval_token_id: null }),
      RECORD,
    ],
    [
      'a consent has a vouched field that its record lacks',
      change('alice 1', {
        identity_assurance: 'tenant_attested',
        approval_token_id: 'atk_1',
        vouched: ['signer_email'],
      }),
      RECORD,
    ],
    [
      'a consent is valid for longer than its configuration allows',
      change('alice 1', { valid_until: instant(Date.parse('2026-03-02T08:00:00.000Z') + 4000 * DAY) }),
      IN_FORCE,
    ],
    [
      'a consent has an end, although its configuration has no limit',
      { plan: (plan) => changeConfiguration(plan, 'configuration 1', { validity_days: null }) },
      IN_FORCE,
    ],
    [
      'a consent is valid for a second longer than its configuration allows',
      { plan: (plan) => lengthen(plan, 30 * DAY + 1000, 30) },
      IN_FORCE,
    ],
    [
      'a version is activated for another document',
      change('activated 1', { document_id: uuid('another document') }),
      IN_FORCE,
    ],
    [
      'a version that was retired is activated again',
      {
        plan: (plan) => {
          const again = stateChange('Activated', SITE, 1, sealedAt(plan, 9) - 5000);
          again.record.event_id = uuid('activated again');
          add(plan, 9, again);
        },
      },
      IN_FORCE,
    ],
    [
      'a consent is valid without end, although its configuration has a limit',
      change('alice 1', { valid_until: null }),
      IN_FORCE,
    ],
  ];
  for (const [name, rest, caught] of cases) yield { point: 'A8', name, ...rest, ...caught };
}

/** Ways to hide that a leaf of the cover has the erasure tag. Null: the file is left out. */
const HIDDEN_ERASURES: Readonly<Record<string, ((index: number, count: number) => readonly number[]) | null>> = {
  'the tag is shown': (index) => [index],
  'the neighbours of the tag are shown': (index, count) =>
    [index - 1, index + 1].filter((one) => one >= 0 && one < count),
  'only the tag before it is shown': (index) => (index > 0 ? [index - 1] : []),
  'only the tag after it is shown': (index, count) => (index + 1 < count ? [index + 1] : []),
  'no tag is shown': () => [],
  'the file of the tags is left out': null,
};

const ERASURE_OMITTED: Readonly<Record<string, Request>> = {
  'for a person': { person: 'carol' },
  'by event ids': { eventIds: [consentId('carol 1')] },
  'for a time range': { from: '2026-03-02T08:00:00.000Z' },
  'for a type': { consentType: 'cookies' },
  'for a version': { version: versionId(SITE, 1) },
};

/** Leaves the erasure of carol's record out, and shows its values as if it were not erased. */
const omitErasure: Pick<Forgery, 'choice'> & { readonly draft: (draft: Draft) => void } = {
  choice: (choice) => leaveOut(choice, 'of carol 1'),
  draft: (draft) => {
    const line = lineOf(draft, 'carol 1');
    line.erased = null;
    line.disclosures = line.leaf.event.values.map(({ text }) => text);
  },
};

/** Hides the erasure's tag in the leaf of the cover that has it. */
function hideErasure(draft: Draft, how: (typeof HIDDEN_ERASURES)[string]): void {
  const batch = batchOf(draft.ledger.plan, 'of carol 1');
  const number = coverOf(draft.size).find((one) => one >= batch) ?? batch;
  const sealed = at(draft.ledger.sealed, number);
  const index = indexOfTag(sealed.tags, erasureTag(consentId('carol 1')));
  if (index < 0) throw new RangeError('the leaf does not have the erasure tag');
  if (how === null) draft.tags.delete(number);
  else draft.tags.set(number, tagLines(sealed, new Set(how?.(index, sealed.tags.length))));
}

function* omittedErasures(): Generator<Forgery> {
  const absent = { check: 'erasure.absent', verdict: 'invalid' } as const;
  const proof = { check: 'erasure.proof', verdict: 'invalid' } as const;
  const worlds = ['small', 'rolled', 'rotated'] as const;
  for (const [what, request] of Object.entries(ERASURE_OMITTED))
    for (const world of worlds)
      yield {
        point: 'A9',
        name: `a package ${what} shows the values of an erased record and omits the erasure (world ${world})`,
        world,
        request,
        ...omitErasure,
        ...absent,
      };
  for (const world of worlds)
    for (const [how, indexes] of Object.entries(HIDDEN_ERASURES))
      yield {
        point: 'A9',
        name: `a package by event id omits the erasure of the record: ${how} (world ${world})`,
        world,
        request: { eventIds: [consentId('carol 1')] },
        ...omitErasure,
        draft: (draft) => {
          omitErasure.draft(draft);
          hideErasure(draft, indexes);
        },
        ...absent,
      };
  for (const last of [-1, 0])
    yield {
      point: 'A9',
      name: `an erasure is omitted, and the run that is called complete ends ${last === 0 ? 'with the record' : 'before its erasure'}`,
      request: { from: '2026-03-02T08:00:00.000Z' },
      ...omitErasure,
      draft: (draft) => {
        omitErasure.draft(draft);
        const stream = `consents-${SITE}`;
        const erased = lineOf(draft, 'carol 1').leaf.revision;
        const before = lineOf(draft, 'carol 2').leaf.revision;
        draft.complete.push({ stream, first: 0, last: last === 0 ? erased : before });
      },
      ...absent,
    };
  yield {
    point: 'A9',
    name: 'an erasure has a tag that is not that of the record',
    lies: taggedErasure(sha256('strange')),
    ...proof,
  };
  yield {
    point: 'A9',
    name: 'an erasure has the erasure tag of another record',
    lies: taggedErasure(erasureTag(consentId('bob 1'))),
    ...proof,
  };
  yield {
    point: 'A9',
    name: 'a record is marked as erased by the erasure of another record',
    plan: (plan) => {
      eventOf(plan, 'of carol 1').record.erased_event_id = consentId('bob 1');
    },
    draft: (draft) => {
      const line = lineOf(draft, 'carol 1');
      line.erased = lineOf(draft, 'bob 1').erased;
      line.disclosures = [];
    },
    ...proof,
  };
  yield {
    point: 'A9',
    name: 'a package without values omits the erasure of a record',
    request: { eventIds: [consentId('carol 1')], disclose: 'none' },
    choice: omitErasure.choice,
    draft: (draft) => {
      lineOf(draft, 'carol 1').erased = null;
    },
    ...absent,
  };
  yield {
    point: 'A9',
    name: 'only the second erasure of a record is included',
    plan: (plan) => {
      const [site, time] = [SITE, sealedAt(plan, 8) - 5000];
      add(plan, 8, erasure('of carol 1 again', site, time, consentId('carol 1')));
    },
    request: { person: 'carol' },
    choice: (choice, ledger) => {
      for (const sealed of ledger.sealed)
        for (const leaf of sealed.leaves) if (leaf.event.label === 'of carol 1 again') choice.entries.set(leaf, sealed);
      leaveOut(choice, 'of carol 1');
    },
    draft: (draft) => {
      const { stream, revision } = lineOf(draft, 'of carol 1 again').leaf;
      lineOf(draft, 'carol 1').erased = { stream, revision };
    },
    ...proof,
  };
  yield {
    point: 'A9',
    name: 'a record is marked as erased by an erasure of another site',
    plan: (plan) => {
      eventOf(plan, 'of carol 1').record.erased_event_id = consentId('elsewhere 1');
    },
    request: { site: OTHER_SITE },
    draft: (draft) => {
      const erasing = draft.ledger.sealed
        .flatMap(({ leaves }) => leaves)
        .find(({ event }) => event.label === 'of carol 1');
      const line = lineOf(draft, 'elsewhere 1', OTHER_SITE);
      line.erased = erasing === undefined ? null : { stream: erasing.stream, revision: erasing.revision };
      line.disclosures = [];
    },
    ...proof,
  };
  for (const [what, members] of [
    ['names a list of records', { erased_event_id: [consentId('carol 1')] }],
    ['names no record', { erased_event_id: null }],
    ['names further records', { erased_event_ids: [consentId('carol 2')] }],
  ] as const)
    yield { point: 'A9', name: `an erasure ${what}`, ...change('of carol 1', members), ...RECORD };
}

/** Gives erasures this tag, in their entries and in the trees of tags. */
function taggedErasure(tag: Uint8Array): LedgerLies {
  return {
    entry: (entry, { type }) => {
      if (type === 'SubjectErased.v1') entry.person_tag = hex(tag);
    },
    leaves: (leaves) => leaves.map((leaf) => (leaf.event.type === 'SubjectErased.v1' ? { ...leaf, tag } : leaf)),
  };
}

/** Forgeries of the references of records, and of erasures: issue points A8 and A9. */
export const FORGED_VALIDITY: readonly Forgery[] = [
  ...texts(),
  ...configurations(),
  ...inForce(),
  ...members(),
  ...acts(),
  ...erasures(),
  ...omittedErasures(),
];
