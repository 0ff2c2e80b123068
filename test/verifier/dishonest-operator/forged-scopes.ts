import type { Forgery } from './forgery.js';
import type { Plan } from './ledger.js';
import { instant, type Json, type JsonRecord } from './primitives.js';
import { BY_PERSON_TOKEN, changeConfiguration, commit, eventOf, value } from './world.js';

const CONFIGURATION = { check: 'document.configuration', verdict: 'invalid' } as const;
const IN_FORCE = { check: 'document.in-force', verdict: 'invalid' } as const;
const RECORD = { check: 'record.format', verdict: 'invalid' } as const;
const DAY = 86_400_000;
/** Members that records of before do not have. */
export const LATE = ['rule_id', 'ask_again_at', 'scope'];
/** What makes a record of version 1 the choice of an account, which a backend states. */
const BY_BACKEND = {
  ...{ v: 2, services: null, ask_again_at: null, rule_id: null },
  ...{ scope: 'account', channel: 's2s' },
};

type Case = readonly [string, Partial<Forgery>, Pick<Forgery, 'check' | 'verdict'>];

const change = (label: string, members: JsonRecord): Pick<Forgery, 'plan'> => ({
  plan: (plan) => void Object.assign(eventOf(plan, label).record, members),
});

/** Takes members out of a record. */
const without = (label: string, names: readonly string[]): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    const { record } = eventOf(plan, label);
    for (const name of names) delete record[name];
  },
});

/** A record, by default the last one, in a form of before with the short validity that its rules allow. */
export const ofBefore = (
  names: readonly string[],
  version: number,
  label = 'alice 4',
): { readonly plan: (plan: Plan) => void } => ({
  plan: (plan) => {
    without(label, names).plan?.(plan);
    const { record } = eventOf(plan, label);
    const until = instant(Date.parse(String(record.created_at)) + DAY);
    Object.assign(record, { v: version, valid_until: until });
  },
});

/** Seals other values with alice's record of a person token, which vouches for some. */
const valuesOf = (
  label: string,
  values: Readonly<Record<string, Json>>,
  vouched?: string[],
): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    const event = eventOf(plan, label);
    event.values = Object.entries(values).map(([name, content]) => value(label, name, content));
    commit(event);
    if (vouched !== undefined) event.record.vouched = vouched;
  },
});

const CASES: readonly Case[] = [
  ['the choice of a device is sealed as that of an account', change('bob 3', { scope: 'account' }), RECORD],
  [
    'an account has an approval token in place of a person token',
    change('alice 3', { ...BY_PERSON_TOKEN, approval_token_id: 'atk_1' }),
    RECORD,
  ],
  ['a person token vouches for nobody', change('alice 3', { vouched: [] }), RECORD],
  [
    'a person token vouches for a name alone',
    valuesOf('alice 3', { visitor_id: 'alice', signer_name: 'Alice' }, ['signer_name']),
    RECORD,
  ],
  ['a browser states the choice of an account', change('alice 4', { channel: 'browser' }), RECORD],
  [
    'a backend states the choice of an account, and names no person',
    valuesOf('alice 4', { user_agent: 'a browser' }),
    RECORD,
  ],
  ['a record has a scope that does not exist', change('alice 3', { scope: 'household' }), RECORD],
  ['a record has no scope, but the member', change('bob 3', { scope: null }), RECORD],
  ['an account has a choice under a configuration without accounts', change('carol 2', BY_BACKEND), CONFIGURATION],
  [
    'in a configuration, the person space has no name',
    { plan: (plan) => changeConfiguration(plan, 'configuration 2', { accounts: { person_space: '' } }) },
    RECORD,
  ],
  ...LATE.flatMap((name): Case[] => {
    const others = LATE.filter((other) => other !== name);
    return [
      [`a record lacks ${name} alone`, without('bob 3', [name]), RECORD],
      [`a record has ${name} alone`, without('bob 3', others), RECORD],
    ];
  }),
  [
    'a text requires an approval token, and the consent has a person token',
    {
      plan: (plan) => {
        eventOf(plan, 'published 2').record.requires_approval_token = true;
        for (const label of ['bob 2', 'nobody 2', 'bob 3', 'alice 4'])
          eventOf(plan, label).record.consent_type = 'cookie';
      },
    },
    IN_FORCE,
  ],
  ['a record states less than one of an earlier batch', ofBefore(LATE, 2), RECORD],
  ['a record of version 1 is after one that states its scope', ofBefore([...LATE, 'services'], 1), RECORD],
  [
    'a record states less than an earlier one of the person',
    { ...ofBefore(LATE, 2), request: { person: 'alice' } },
    RECORD,
  ],
];

/** Whose choice a record claims to be, and records that state less than an earlier one. */
export const FORGED_SCOPES: readonly Forgery[] = CASES.map(([name, rest, caught]) => ({
  point: 'A8',
  name,
  ...rest,
  ...caught,
}));
