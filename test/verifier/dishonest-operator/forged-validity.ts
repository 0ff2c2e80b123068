import { type Forgery, leaveOut, lineOf } from './forgery.js';
import { type Plan, type PlannedEvent, sealedAt } from './ledger.js';
import { canonical, instant, type Json, type JsonRecord, sha256Hex, utf8, uuid } from './primitives.js';
import {
  batchOf,
  configuration,
  consentId,
  erasure,
  eventOf,
  notice,
  OTHER_SITE,
  publication,
  SITE,
  stateChange,
  TEXTS,
  versionId,
} from './world.js';

const VERSION = { check: 'document.version', verdict: 'invalid' } as const;
const CONFIGURATION = { check: 'document.configuration', verdict: 'invalid' } as const;
const RECORD = { check: 'record.format', verdict: 'invalid' } as const;
const DAY = 86_400_000;

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

function* texts(): Generator<Forgery> {
  const cases: readonly [string, Partial<Forgery>][] = [
    ['a text that was never published', change('alice 1', { document_hash: sha256Hex(TEXTS.forged) })],
    ['a version that was never published', change('alice 1', { document_version_id: uuid('no version') })],
    ['a version in another language', change('alice 1', { language: 'tr' })],
    ['the text of another version', change('alice 1', { document_hash: sha256Hex(TEXTS.second) })],
    ['the version of another site', change('alice 1', { document_version_id: versionId(OTHER_SITE, 1) })],
    [
      'a version that is published later',
      change('alice 1', { document_version_id: versionId(SITE, 2), document_hash: sha256Hex(TEXTS.second) }),
    ],
    [
      'a version that was retired before',
      change('alice 4', { document_version_id: versionId(SITE, 1), document_hash: sha256Hex(TEXTS.first) }),
    ],
    ['a version that was never activated', { plan: (plan) => drop(plan, 'activated 1') }],
    [
      'a version that is activated later',
      {
        plan: (plan) => {
          drop(plan, 'activated 1');
          add(plan, 7, stateChange('Activated', SITE, 1, sealedAt(plan, 7) - 6000));
        },
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
    ['a version whose activation is left out', { choice: (choice) => leaveOut(choice, 'activated 1') }],
  ];
  for (const [what, rest] of cases) yield { point: 'A8', name: `a consent names ${what}`, ...rest, ...VERSION };
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
  for (const [what, rest] of cases) yield { point: 'A8', name: `a consent names ${what}`, ...rest, ...CONFIGURATION };
}

/** Members of a consent's record with values that the format does not allow. */
const WRONG_MEMBERS: Readonly<Record<string, Json>> = {
  v: 2,
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
  yield { point: 'A8', name: 'a record has a further member', ...change('alice 1', { note: 'x' }), ...RECORD };
  yield {
    point: 'A8',
    name: 'a record is valid until a time before it was created',
    ...change('alice 1', { valid_until: '2026-03-01T00:00:00.000Z' }),
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
          add(plan, 2, erasure('early', SITE, sealedAt(plan, 2) - 5000, [consentId('carol 1')]));
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

/** What records refer to, and what was erased: issue points A8 and A9. */
export const FORGED_VALIDITY: readonly Forgery[] = [...texts(), ...configurations(), ...members(), ...erasures()];

function* inForce(): Generator<Forgery> {
  const cases: readonly [string, Partial<Forgery>, Pick<Forgery, 'check' | 'verdict'>][] = [
    [
      'a consent names a configuration that was superseded before',
      {
        plan: (plan) => {
          eventOf(plan, 'alice 4').record.site_config_hash = hashOf(eventOf(plan, 'configuration 1').record);
        },
      },
      CONFIGURATION,
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
      CONFIGURATION,
    ],
    ['the retirement of a version is omitted: two are active', { plan: (plan) => drop(plan, 'retired 1') }, VERSION],
    [
      'two texts have one number',
      {
        plan: (plan) => {
          const event = eventOf(plan, 'published 2');
          event.record.number = 1;
        },
      },
      VERSION,
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
      VERSION,
    ],
    [
      'a consent is older than the publication of its text claims to be',
      {
        plan: (plan) => {
          const later = instant(sealedAt(plan, 3) + 60_000);
          for (const label of ['published 1', 'activated 1']) eventOf(plan, label).record.created_at = later;
        },
      },
      VERSION,
    ],
    [
      'a text requires an approval token, and the consent has none',
      change('published 1', { requires_approval_token: true }),
      VERSION,
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
      CONFIGURATION,
    ],
    [
      'a consent is valid without end, although its configuration has a limit',
      change('alice 1', { valid_until: null }),
      CONFIGURATION,
    ],
  ];
  for (const [name, rest, caught] of cases) yield { point: 'A8', name, ...rest, ...caught };
}

function* omittedErasures(): Generator<Forgery> {
  const values = { check: 'erasure.values', verdict: 'invalid' } as const;
  const forged = { check: 'erasure.proof', verdict: 'indeterminate' } as const;
  for (const [what, request] of [
    ['for a person', { person: 'carol' }],
    ['by event ids', { eventIds: [consentId('carol 1')] }],
    ['for a time range', { from: '2026-03-02T08:00:00.000Z' }],
  ] as const)
    yield {
      point: 'A9',
      name: `a package ${what} shows the values of an erased record and omits the erasure`,
      request,
      choice: (choice) => leaveOut(choice, 'of carol 1'),
      draft: (draft) => {
        const line = lineOf(draft, 'carol 1');
        line.erased = null;
        line.disclosures = line.leaf.event.values.map(({ text }) => text);
      },
      ...(what === 'for a person' ? values : forged),
    };
  yield {
    point: 'A9',
    name: 'an erasure lists an event of another site',
    plan: (plan) => {
      eventOf(plan, 'of carol 1').record.erased_event_ids = [consentId('carol 1'), consentId('elsewhere 1')].sort();
    },
    ...forged,
    verdict: 'invalid',
  };
  yield {
    point: 'A9',
    name: 'the list of an erasure is not sorted',
    plan: (plan) => {
      const ids = [consentId('carol 1'), consentId('carol 2')].sort().reverse();
      eventOf(plan, 'of carol 1').record.erased_event_ids = ids;
    },
    check: 'record.format',
    verdict: 'invalid',
  };
}

/** Needs a replay of the notices, or all erasures: issue points A8 and A9. */
export const FORGED_IN_FORCE: readonly Forgery[] = [...inForce(), ...omittedErasures()];
