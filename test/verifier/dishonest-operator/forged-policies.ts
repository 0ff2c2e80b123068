import { type Draft, entriesFile, type Request } from './export.js';
import { movedWithNotices } from './forged-times.js';
import { type Forgery, leaveOut } from './forgery.js';
import { namedKey } from './keys.js';
import type { Ledger, LedgerLies, Plan, PlannedEvent } from './ledger.js';
import { at, instant, type Json, type JsonRecord, utf8, uuid } from './primitives.js';
import { rewrite } from './rewrite.js';
import { batchOf, consentId, consentsOf, noticesOf, POLICY_STREAM, policy, SITE } from './world.js';

/*
 * The operator breaks the delays of its own policy, and must not appear to keep them. The strict
 * policy is in force for all consents: each is stamped later than it allows.
 */

const POINT = 'policies';
const STRICT = { seal_within_seconds: 2, stamp_within_seconds: 3 } as const;
const LAX = { seal_within_seconds: 172_800, stamp_within_seconds: 172_800 } as const;
const BROKEN = { check: 'time.claimed', verdict: 'indeterminate' } as const;
const INCOMPLETE = { check: 'completeness.runs', verdict: 'invalid' } as const;
const MALFORMED = { check: 'record.format', verdict: 'invalid' } as const;

/** Seals events in a batch, the policies last. */
function seal(plan: Plan, number: number, ...events: readonly PlannedEvent[]): void {
  plan.batches.set(number, [...(plan.batches.get(number) ?? []), ...events]);
}

const claimed = (plan: Plan, number: number): number => plan.start + number * 10_000 - 1000;

/** Policy 1 is lax, policy 2 strict. */
function strictly(plan: Plan): void {
  seal(plan, 0, policy(1, claimed(plan, 0)));
  seal(plan, 2, policy(2, claimed(plan, 2), STRICT));
}

const LABEL = 'policy 2';

/** Changes the plan after the operator set the strict policy. */
const later = (change: (plan: Plan) => void): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    strictly(plan);
    change(plan);
  },
});

/** A ledger with one policy, which is changed. */
const only = (change: JsonRecord): Pick<Forgery, 'plan'> => ({
  plan: (plan) => seal(plan, 0, policy(1, claimed(plan, 0), change)),
});

function eventsOf(plan: Plan): readonly PlannedEvent[] {
  return [...plan.batches.values()].flat();
}

function planned(plan: Plan, label: string): PlannedEvent {
  return at(
    eventsOf(plan).filter((event) => event.label === label),
    0,
  );
}

function placed(draft: Draft, label: string): Draft['entries'][number] {
  return at(
    draft.entries.filter(({ leaf }) => leaf.event.label === label),
    0,
  );
}

/** Adds an event of the ledger to the package, whatever its stream is. */
function include(label: string): Pick<Forgery, 'choice'> {
  return {
    choice: (choice, { sealed }: Ledger) => {
      for (const one of sealed)
        for (const leaf of one.leaves) if (leaf.event.label === label) choice.entries.set(leaf, one);
    },
  };
}

const REQUESTS: Readonly<Record<string, Request>> = {
  'the whole site': {},
  'a person': { person: 'alice' },
  'an event id': { eventIds: [consentId('bob 1')] },
  'a range of time': { from: '2026-03-02T08:00:00.000Z', to: '2026-03-02T08:01:00.000Z', disclose: ['visitor_id'] },
};

function* leftOut(): Generator<Forgery> {
  for (const [kind, request] of Object.entries(REQUESTS)) {
    yield { point: POINT, name: `the package for ${kind} shows the strict policy`, request, plan: strictly, ...BROKEN };
    yield {
      point: POINT,
      name: `the strict policy is left out of the package for ${kind}`,
      request,
      plan: strictly,
      choice: (choice) => leaveOut(choice, LABEL),
      ...INCOMPLETE,
    };
  }
  const without = (...labels: readonly string[]): Pick<Forgery, 'plan' | 'choice'> => ({
    plan: strictly,
    choice: (choice) => leaveOut(choice, ...labels),
  });
  yield { point: POINT, name: 'all policies are left out', ...without('policy 1', LABEL), ...INCOMPLETE };
  yield {
    point: POINT,
    name: 'the strict policy is left out, and the manifest claims the stream as complete',
    ...without(LABEL),
    manifest: (manifest) => {
      if (Array.isArray(manifest.complete))
        manifest.complete = manifest.complete.map((run: JsonRecord) =>
          run.stream === POLICY_STREAM ? { ...run, last: 1 } : run,
        );
    },
    ...INCOMPLETE,
  };
  yield {
    point: POINT,
    name: 'the strict policy is left out, and so is its batch',
    ...without(LABEL),
    draft: (draft) => {
      draft.batches = draft.batches.filter(({ sealed }) => sealed.number !== 2);
    },
    ...INCOMPLETE,
  };
  yield {
    point: POINT,
    name: 'the strict policy below a roll-up is left out with its batch',
    world: 'rolled',
    ...without(LABEL),
    ...INCOMPLETE,
  };
  yield {
    point: POINT,
    name: 'the strict policy is shown, but not in the roll-up over it',
    world: 'rolled',
    plan: strictly,
    lies: {
      runs: (runs, number) =>
        number === 127 ? runs.map((run) => (run.stream === POLICY_STREAM ? { ...run, last: 0 } : run)) : runs,
    },
    check: 'batch.streams',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the manifest does not claim the policies as complete',
    plan: strictly,
    draft: (draft) => {
      draft.complete = draft.complete.filter(({ stream }) => stream !== POLICY_STREAM);
    },
    ...INCOMPLETE,
  };
  yield {
    point: POINT,
    name: 'the strict policy is written with an escaped name of its stream',
    plan: strictly,
    draft: (draft) => {
      const text = Buffer.from(entriesFile(draft)).toString('utf8');
      const escaped = text.replaceAll('\\"stream\\":\\"policy\\"', '\\"stream\\":\\"polic\\u0079\\"');
      if (escaped === text) throw new RangeError('no policy in the package');
      draft.files.set('entries.ndjson', utf8(escaped));
    },
    ...BROKEN,
  };
}

function* laxer(): Generator<Forgery> {
  const third = (batch: number, created = claimed): Pick<Forgery, 'plan'> =>
    later((plan) => seal(plan, batch, policy(3, created(plan, batch), LAX)));
  yield { point: POINT, name: 'a laxer policy is sealed for later batches', ...third(12), ...BROKEN };
  yield {
    point: POINT,
    name: 'a laxer policy for later batches claims the time of the strict one',
    ...third(12, (plan) => claimed(plan, 2)),
    ...BROKEN,
  };
  yield {
    point: POINT,
    name: 'a laxer policy claims to be an hour older than the strict one',
    ...third(12, (plan) => claimed(plan, 2) - 3_600_000),
    ...BROKEN,
  };
  yield* loosened();
  for (const to of [0, 2, 3])
    yield {
      point: POINT,
      name: `a laxer policy for later batches is shown in batch ${to}`,
      ...third(12),
      draft: (draft) => {
        placed(draft, 'policy 3').batch = to;
      },
      check: to === 3 ? 'batch.streams' : 'entry.inclusion',
      verdict: 'invalid',
    };
  yield {
    point: POINT,
    name: 'the strict policy is shown in a later batch',
    plan: strictly,
    draft: (draft) => {
      placed(draft, LABEL).batch = 15;
    },
    check: 'batch.streams',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the strict policy is shown with laxer delays',
    plan: strictly,
    draft: (draft) => rewrite(draft, LABEL, LAX),
    check: 'entry.inclusion',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'a laxer text of the strict policy is shown besides it',
    plan: strictly,
    draft: (draft) => {
      const line = placed(draft, LABEL);
      draft.entries.push({ ...line });
      rewrite(draft, LABEL, LAX);
    },
    check: 'entry.order',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the strict policy is shown with the version of a newer entry',
    plan: strictly,
    draft: (draft) => {
      const line = placed(draft, LABEL);
      line.entry = line.entry.replace(/"v":1\}$/, '"v":2}');
    },
    check: 'entry.format',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'the strict policy has the type of a newer version',
    ...later((plan) => void Object.assign(planned(plan, LABEL), { type: 'LedgerPolicySet.v2' })),
    check: 'record.format',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'the strict policy has the record of a newer version',
    ...later((plan) => void Object.assign(planned(plan, LABEL).record, { v: 2 })),
    check: 'record.format',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'the batch of the strict policy has a newer version',
    plan: strictly,
    draft: (draft) => {
      for (const line of draft.batches)
        if (line.sealed.number === 2) line.header = line.header.replace(/"v":1\}$/, '"v":2}');
    },
    check: 'batch.header',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'the relying party allows more than the policy does',
    plan: strictly,
    options: () => ({ maxDelay: 172_800_000 }),
    ...BROKEN,
  };
}

/** A longer delay is published first, and then a record is backdated under it. */
function* loosened(): Generator<Forgery> {
  const lax = (batches: readonly number[]) => (plan: Plan) => {
    for (const [i, batch] of batches.entries()) seal(plan, batch, policy(i + 1, claimed(plan, batch), LAX));
    movedWithNotices('bob 1', -20 * 60_000).plan?.(plan);
  };
  const own: Request = { eventIds: [consentId('bob 1')] };
  for (const [where, batches] of Object.entries({
    'its own batch': 'own',
    'the first batch': 0,
    'each batch before it': 'all',
  }))
    for (const [kind, request] of Object.entries({ 'this record': own, 'the whole site': {} }))
      yield {
        point: POINT,
        name: `a record is backdated under a laxer policy of ${where}, in the package of ${kind}`,
        request,
        plan: (plan) => {
          const last = batchOf(plan, 'bob 1');
          const all = Array.from({ length: last + 1 }, (_, i) => i);
          lax(batches === 'own' ? [last] : batches === 'all' ? all : [0])(plan);
        },
        ...BROKEN,
      };
}

function* places(): Generator<Forgery> {
  const stream = (name: string): Pick<Forgery, 'plan' | 'choice'> => ({
    plan: (plan) => seal(plan, 2, { ...policy(1, claimed(plan, 2), LAX), stream: name }),
    ...include('policy 1'),
  });
  for (const name of [consentsOf(SITE), noticesOf(SITE), 'ledger', 'policies', 'policy ', 'Policy'])
    yield {
      point: POINT,
      name: `a policy is in the stream ${name.replace(SITE, 'of the site')}`,
      ...stream(name),
      // The streams of an entry are a closed list.
      check: /polic/i.test(name) ? 'entry.format' : 'entry.stream',
      verdict: 'invalid',
    };
  yield {
    point: POINT,
    name: 'the policies hold an event of another type',
    ...later((plan) => {
      const event = { ...planned(plan, 'activated 1'), label: 'misplaced', stream: POLICY_STREAM };
      seal(plan, 5, { ...event, record: { ...event.record, event_id: uuid('misplaced') } });
    }),
    check: 'entry.stream',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'two policies have one event id',
    ...later((plan) => void Object.assign(planned(plan, LABEL).record, { event_id: uuid('policy 1') })),
    check: 'entry.order',
    verdict: 'invalid',
  };
  const numbers: readonly [string, (plan: Plan) => void][] = [
    ['the first policy has the number 2', (plan) => seal(plan, 0, policy(2, claimed(plan, 0)))],
    ['the first policy has the number 0', (plan) => seal(plan, 0, policy(0, claimed(plan, 0)))],
    [
      'two policies have the number 1',
      (plan) => {
        seal(plan, 0, policy(1, claimed(plan, 0)));
        seal(plan, 2, { ...policy(1, claimed(plan, 2)), label: LABEL });
        Object.assign(planned(plan, LABEL), { record: { ...planned(plan, LABEL).record, event_id: uuid('again') } });
      },
    ],
    [
      'the numbers of two policies are exchanged',
      (plan) => {
        seal(plan, 0, policy(2, claimed(plan, 0)));
        seal(plan, 2, policy(1, claimed(plan, 2), LAX));
      },
    ],
    [
      'two policies of one batch are exchanged',
      (plan) => seal(plan, 0, policy(2, claimed(plan, 0)), policy(1, claimed(plan, 0), LAX)),
    ],
    [
      'a number is skipped',
      (plan) => {
        seal(plan, 0, policy(1, claimed(plan, 0)));
        seal(plan, 2, policy(3, claimed(plan, 2)));
      },
    ],
  ];
  for (const [name, plan] of numbers) yield { point: POINT, name, plan, ...MALFORMED };
}

const WITNESS_A = namedKey('witness.example/a', 'policy witness a', 4);
const WITNESS_B = namedKey('witness.example/b', 'policy witness b', 4);

function* members(): Generator<Forgery> {
  const witnesses: readonly string[] = [WITNESS_A.line, WITNESS_B.line].sort();
  const wrong: Readonly<Record<string, Json>> = {
    seal_within_seconds: [0, -1, 1.5, 172_801, '600', null],
    stamp_within_seconds: [0, 172_801],
    stamps: [0, 17, '1'],
    witnesses: [[...witnesses].reverse(), [at(witnesses, 0), at(witnesses, 0)], ['witness.example/a'], null],
    witnesses_required: [1, -1],
    tree_hash: ['sha512', 'SHA256', 'sha1'],
    note: ['unknown member'],
    operator: [
      'Example Ledger GmbH',
      {},
      ...['', ' ', ' A', 'A\nB', 'A\u2028B', 'A\u202eB', 'A\u00a0B', 'A\u200bB', 'x'.repeat(301)].map((name) => ({
        legal_name: name,
      })),
    ],
    qualified_stamps: [
      [],
      [{ organization: 'A' }],
      ...['http://a.example', 'https://', 'https://a b', 'javascript:alert(1)'].map((list) => [
        { organization: 'A', trusted_list: list },
      ]),
    ],
    created_at: ['2026-03-02T08:00:00Z'],
  };
  for (const [member, values] of Object.entries(wrong))
    if (Array.isArray(values))
      for (const [i, value] of values.entries())
        yield {
          point: POINT,
          name: `a policy has a wrong value of ${member} (${i + 1})`,
          ...only({ [member]: value }),
          ...MALFORMED,
        };
  const stated = (legal_name: string): JsonRecord => ({ operator: { legal_name } });
  const qualified = { qualified_stamps: [{ organization: 'A', trusted_list: 'https://a.example' }] };
  const restated: Readonly<Record<string, readonly [JsonRecord, JsonRecord]>> = {
    'the operator is renamed': [stated('A'), stated('B')],
    'an operator is added': [{}, stated('B')],
    'the stamps are stated to be qualified': [{}, qualified],
  };
  for (const [name, [before, after]] of Object.entries(restated))
    yield {
      point: POINT,
      name: `${name} in a sealed policy`,
      ...only(before),
      draft: (draft) => rewrite(draft, 'policy 1', after),
      check: 'entry.inclusion',
      verdict: 'invalid',
    };
  yield {
    point: POINT,
    name: 'a policy requires more witnesses than it names',
    ...only({ witnesses: [...witnesses], witnesses_required: 3 }),
    ...MALFORMED,
  };
  yield {
    point: POINT,
    name: 'a policy has two authorities, and one of them stamps',
    ...only({ stamps: 2 }),
    check: 'time.stamped',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'a policy is changed to one authority after the records',
    plan: (plan) => {
      seal(plan, 0, policy(1, claimed(plan, 0), { stamps: 2 }));
      seal(plan, 12, policy(2, claimed(plan, 12), { stamps: 1 }));
    },
    check: 'time.stamped',
    verdict: 'indeterminate',
  };
  yield {
    point: POINT,
    name: 'a policy claims to be younger than its stamp',
    plan: (plan) => seal(plan, 2, policy(1, claimed(plan, 2) + 86_400_000)),
    check: 'time.claimed',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'a policy is marked as erased',
    plan: strictly,
    draft: (draft) => {
      placed(draft, LABEL).erased = { stream: consentsOf(SITE), revision: 0 };
    },
    check: 'disclosure.digest',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'the place of a policy is proved by the path of another entry',
    ...only({ created_at: instant(Date.parse('2026-03-02T07:59:59.000Z')) }),
    draft: (draft) => {
      const line = placed(draft, 'policy 1');
      const other = batchOf(draft.ledger.plan, 'published 1');
      draft.proofs.set(line.batch, draft.proofs.get(other) ?? []);
    },
    check: 'entry.inclusion',
    verdict: 'invalid',
  };
}

const countedIn =
  (wrong: (policies: number) => number, ...numbers: readonly number[]): NonNullable<LedgerLies['header']> =>
  (header, number) => {
    if (numbers.length === 0 || numbers.includes(number)) header.policies = wrong(Number(header.policies));
  };

/** Headers that count other policies than the ledger has. */
function* counts(): Generator<Forgery> {
  const MISCOUNTED = { check: 'completeness.policies', verdict: 'invalid' } as const;
  const wrong: Readonly<Record<string, (policies: number) => number>> = {
    'a policy too few': (policies) => Math.max(0, policies - 1),
    'a policy too many': (policies) => policies + 1,
  };
  const places: Readonly<Record<string, readonly number[]>> = {
    'every header': [],
    'the header of the policy': [2],
    'the header of a record': [4],
    'the header of an empty batch': [14],
    'the last header': [15],
  };
  for (const [what, change] of Object.entries(wrong)) {
    for (const [where, numbers] of Object.entries(places))
      yield {
        point: POINT,
        name: `${where} counts ${what}`,
        plan: strictly,
        lies: { header: countedIn(change, ...numbers) },
        ...MISCOUNTED,
      };
    yield {
      point: POINT,
      name: `a roll-up counts ${what}`,
      world: 'rolled',
      plan: strictly,
      lies: { header: countedIn(change, 127) },
      ...MISCOUNTED,
    };
    yield {
      point: POINT,
      name: `the last header counts ${what}, in a receipt`,
      receipt: { label: 'alice 2' },
      plan: strictly,
      lies: { header: countedIn(change, 8) },
      ...MISCOUNTED,
    };
  }
  yield {
    point: POINT,
    name: 'the last header counts a policy of a ledger without policies',
    lies: { header: countedIn(() => 1, 15) },
    ...MISCOUNTED,
  };
  for (const [what, value] of Object.entries<Json>({ 'no count': null, 'a fraction': 1.5, 'a count below 0': -1 }))
    yield {
      point: POINT,
      name: `a header has ${what} of policies`,
      lies: {
        header: (header, number) => {
          if (number === 4) header.policies = value;
        },
      },
      check: 'batch.header',
      verdict: 'invalid',
    };
}

/** The ledger's policy is hidden, moved, doubled or malformed (docs/evidence-format.md §9, §11). */
export const FORGED_POLICIES: readonly Forgery[] = [...leftOut(), ...laxer(), ...places(), ...members(), ...counts()];
