import { batchLine, type Draft, indexesOfStreams, type Request, tagLines } from './export.js';
import { type Forgery, leaveOut, lineOf } from './forgery.js';
import { byBytes, erasureTag, type LedgerLies, type Run, saltOf, sealedAt, streamKey } from './ledger.js';
import { at, hex, sha256, sha256Hex, utf8 } from './primitives.js';
import { promiseOf } from './promise.js';
import {
  batchOf,
  consent,
  consentId,
  consentsOf,
  erasure,
  eventOf,
  makePlan,
  noticesOf,
  OTHER_SITE,
  POLICY_STREAM,
  policy,
  SITE,
  stateChange,
  TEXTS,
  WORLDS,
} from './world.js';

/*
 * Lies about the structure of the ledger: roll-ups and runs that do not agree, packages that are not of
 * the person that they are for, files that nothing needs, and promises beyond the policy.
 */

const POINT = 'structure';
const STREAMS = { check: 'batch.streams', verdict: 'invalid' } as const;
const OWN = [consentsOf(SITE), noticesOf(SITE), POLICY_STREAM];
const FIRST_ROLL_UP = 127;

/** Shows a batch that the package would not need, as a service does for its header or for renewal. */
function support(draft: Draft, number: number): void {
  const { ledger, size } = draft;
  const sealed = at(ledger.sealed, number);
  const line = batchLine(ledger, sealed, size, indexesOfStreams(sealed, OWN));
  draft.batches = [...draft.batches.filter((one) => one.sealed !== sealed), line].sort(
    (a, b) => a.sealed.number - b.sealed.number,
  );
}

/** Changes the run of a stream in one leaf of the ledger tree, and moves the runs after it. */
function bentRun(number: number, stream: string, change: (run: Run) => void): LedgerLies {
  return {
    runs: (honest, leaf) => {
      if (leaf !== number) return honest;
      let start = 0;
      return honest.map((one) => {
        const run = { ...one, start };
        if (run.stream === stream) change(run);
        start += run.last - run.first + 1;
        return run;
      });
    },
  };
}

const shortened = (run: Run): void => {
  run.last -= 1;
};

/** Everything of the site is below the first roll-up: the last record is `carol 2`, in batch 120. */
function endsBelowRollUp(...without: readonly string[]): Forgery['plan'] {
  return (plan) => {
    for (const number of plan.batches.keys()) if (number > FIRST_ROLL_UP) plan.batches.delete(number);
    for (const [number, events] of plan.batches)
      plan.batches.set(
        number,
        events.filter(({ label }) => !without.includes(label)),
      );
  };
}

/** The requests by which a package that leaves out the end of a stream can be asked for. */
const REQUESTS: Readonly<Record<string, Request>> = {
  'the whole site': {},
  'event ids': { eventIds: [consentId('alice 1')] },
  'another person': { person: 'bob' },
};

/** A roll-up states a shorter run than a batch under it, which the package shows as well. */
function* cutRollUps(): Generator<Forgery> {
  const common = { point: POINT, world: 'rolled' as const, ...STREAMS };
  for (const [what, request] of Object.entries(REQUESTS))
    yield {
      ...common,
      name: `a roll-up cuts the end of the consents, in a package for ${what}`,
      request,
      plan: endsBelowRollUp(),
      lies: bentRun(FIRST_ROLL_UP, consentsOf(SITE), shortened),
      choice: (choice) => leaveOut(choice, 'carol 2'),
      draft: (draft) => support(draft, 120),
    };
  yield {
    ...common,
    name: 'a roll-up cuts the retirement of the text',
    plan: (plan) => {
      endsBelowRollUp()?.(plan);
      plan.batches.set(125, [stateChange('Retired', SITE, 1, sealedAt(plan, 125) - 1000)]);
    },
    lies: bentRun(FIRST_ROLL_UP, noticesOf(SITE), shortened),
    choice: (choice) => leaveOut(choice, 'retired 1'),
    draft: (draft) => support(draft, 125),
  };
  yield {
    ...common,
    name: 'a roll-up cuts the policy that demands two authorities',
    plan: (plan) => {
      endsBelowRollUp()?.(plan);
      plan.batches.set(0, [policy(1, plan.start - 1000)]);
      plan.batches.set(125, [policy(2, sealedAt(plan, 125) - 1000, { stamps: 2 })]);
    },
    lies: {
      ...bentRun(FIRST_ROLL_UP, POLICY_STREAM, shortened),
      header: (header, number) => void (number >= 125 && Object.assign(header, { policies: 1 })),
    },
    choice: (choice) => leaveOut(choice, 'policy 2'),
    draft: (draft) => support(draft, 125),
  };
  yield {
    ...common,
    name: 'a batch after a roll-up takes up a revision again',
    lies: bentRun(140, consentsOf(SITE), (run) => {
      run.first -= 1;
      run.last -= 1;
    }),
    request: { eventIds: [consentId('alice 1')] },
    draft: (draft) => support(draft, 140),
  };
  yield {
    ...common,
    name: 'a batch under a roll-up skips a revision that the next one has',
    lies: bentRun(80, consentsOf(SITE), (run) => {
      run.first += 1;
      run.last += 1;
    }),
    request: { eventIds: [consentId('alice 2')] },
    draft: (draft) => support(draft, 80),
  };
  yield {
    ...common,
    name: 'the first roll-up begins the stream with revision 1',
    lies: bentRun(FIRST_ROLL_UP, consentsOf(SITE), (run) => {
      run.first += 1;
    }),
    request: { eventIds: [consentId('alice 4')] },
  };
  yield {
    ...common,
    name: 'a roll-up lacks the stream of another site, which a batch under it has',
    lies: {
      runs: (honest, number) =>
        number === FIRST_ROLL_UP ? honest.filter(({ stream }) => stream !== OTHER_STREAM) : honest,
    },
    request: { eventIds: [consentId('alice 4')] },
    draft: (draft) => {
      const { ledger, size } = draft;
      for (const number of [60, FIRST_ROLL_UP]) {
        const sealed = at(ledger.sealed, number);
        const shown = new Set(sealed.runs.keys());
        const line = batchLine(ledger, sealed, size, shown);
        draft.batches = [...draft.batches.filter((one) => one.sealed !== sealed), line].sort(
          (a, b) => a.sealed.number - b.sealed.number,
        );
      }
    },
  };
  yield {
    ...common,
    name: 'a roll-up counts fewer entries than the batches under it',
    lies: bentRun(FIRST_ROLL_UP, OTHER_STREAM, shortened),
    check: 'batch.header',
  };
  yield {
    ...common,
    name: 'a roll-up counts fewer tags than the batches under it',
    lies: { tags: (tags, number) => (number === FIRST_ROLL_UP ? tags.slice(0, 3) : tags) },
    check: 'batch.tags',
  };
}

const OTHER_STREAM = consentsOf(OTHER_SITE);

/** A batch with records of three sites, and with a notice of the first one. */
const SHARED = 14;
function addShared(plan: ReturnType<typeof makePlan>): void {
  const { record } = eventOf(plan, 'configuration 2');
  const named = { configuration: record, version: 2, content: TEXTS.second };
  const time = sealedAt(plan, SHARED) - 5000;
  plan.batches.set(SHARED, [
    consent('shared 1', time, named),
    consent('shared 2', time + 1000, named),
    stateChange('Retired', SITE, 2, time + 2000),
    consent('shared elsewhere', time, {
      site: OTHER_SITE,
      configuration: eventOf(plan, `configuration of ${OTHER_SITE}`, OTHER_SITE).record,
      content: TEXTS.other,
    }),
  ]);
}

function* neighbours(): Generator<Forgery> {
  const common = { point: POINT, plan: addShared, ...STREAMS };
  const reshown = (draft: Draft, change: (shown: Set<number>, own: number, notices: number) => void): void => {
    const { ledger, size } = draft;
    const sealed = at(ledger.sealed, SHARED);
    const shown = new Set(indexesOfStreams(sealed, OWN));
    change(
      shown,
      sealed.runs.findIndex(({ stream }) => stream === consentsOf(SITE)),
      sealed.runs.findIndex(({ stream }) => stream === noticesOf(SITE)),
    );
    const line = batchLine(ledger, sealed, size, shown);
    draft.batches = draft.batches.map((one) => (one.sealed === sealed ? line : one));
  };
  for (const [side, step] of [
    ['before', -1],
    ['after', 1],
  ] as const)
    for (const site of [SITE, OTHER_SITE]) {
      const own = [consentsOf(site), noticesOf(site), POLICY_STREAM];
      yield {
        ...common,
        name: `the leaf ${side} the run of ${site === SITE ? 'the first' : 'the second'} site is not shown`,
        request: { site },
        draft: (draft) => {
          const { ledger, size } = draft;
          const sealed = at(ledger.sealed, SHARED);
          const place = sealed.runs.findIndex(({ stream }) => stream === consentsOf(site));
          const beside = place + step;
          // The other one is hidden if there is no such leaf.
          const hidden = beside >= 0 && beside < sealed.runs.length ? beside : place - step;
          const shown = new Set(indexesOfStreams(sealed, own));
          shown.delete(hidden);
          const line = batchLine(ledger, sealed, size, shown);
          draft.batches = draft.batches.map((one) => (one.sealed === sealed ? line : one));
        },
      };
    }
  yield {
    ...common,
    name: 'the run of the notices is not shown',
    request: { eventIds: [consentId('shared 1')] },
    draft: (draft) => reshown(draft, (shown, _, notices) => void shown.delete(notices)),
  };
  yield {
    ...common,
    name: 'a batch does not show what it has of the consents, in a package with a filter',
    request: { eventIds: [consentId('alice 1')] },
    draft: (draft) => reshown(draft, (shown, own) => void shown.delete(own)),
  };
  for (const [what, salt] of [
    ['of another site', hex(saltOf(consentsOf(OTHER_SITE)))],
    ['that is random', hex(sha256('a salt'))],
  ] as const)
    yield {
      ...common,
      name: `the manifest states a salt ${what}`,
      manifest: (manifest) => {
        manifest.salt = salt;
      },
    };
  yield {
    ...common,
    name: 'the manifest states no salt',
    manifest: (manifest) => {
      manifest.salt = null;
    },
    check: 'manifest.format',
  };
  yield {
    ...common,
    name: 'two runs of one stream are in one batch, of which one is shown',
    lies: {
      runs: (honest, number) =>
        number !== SHARED
          ? honest
          : honest.flatMap((run) =>
              run.stream === consentsOf(SITE)
                ? [
                    { ...run, last: run.first },
                    { ...run, start: run.start + 1, first: run.last },
                  ]
                : [run],
            ),
    },
    choice: (choice) => leaveOut(choice, 'shared 2'),
    draft: (draft) => reshown(draft, (shown, own) => void shown.delete(own + 1)),
  };
  yield {
    ...common,
    name: 'a run hides the last leaf of the site before its notices',
    lies: {
      runs: (honest, number) =>
        honest.map((run) =>
          number === SHARED && run.stream === hidingStream() ? { ...run, last: run.last - 1 } : run,
        ),
    },
    request: { eventIds: [consentId('alice 1')] },
  };
}

/** The stream of the first site that comes first in a batch: its run can hide a leaf before the other one. */
function hidingStream(): string {
  const [first = ''] = [consentsOf(SITE), noticesOf(SITE)].sort((a, b) => byBytes(streamKey(a), streamKey(b)));
  return first;
}

const PERSON = { check: 'completeness.person', verdict: 'indeterminate' } as const;

function* persons(): Generator<Forgery> {
  for (const world of ['small', 'rolled', 'rotated'] as const) {
    const common = { point: POINT, world, request: { person: 'alice' } };
    yield {
      ...common,
      name: `a package for a person discloses nothing in the world ${world}`,
      request: { person: 'alice', disclose: 'none' },
      ...PERSON,
    };
    yield {
      ...common,
      name: `a package for a person does not disclose who it is of in the world ${world}`,
      request: { person: 'alice', disclose: ['user_agent'] },
      ...PERSON,
    };
    yield {
      ...common,
      name: `one record of a person does not name the person in the world ${world}`,
      request: { person: 'alice', disclose: ['visitor_id'] },
      draft: (draft) => void Object.assign(lineOf(draft, 'alice 2'), { disclosures: [] }),
      ...PERSON,
    };
    yield {
      ...common,
      name: `two persons are mixed under one id, and only one is named in the world ${world}`,
      request: { person: 'alice', disclose: ['visitor_id'] },
      plan: (plan) => {
        eventOf(plan, 'bob 2').person = `${SITE} alice`;
      },
      choice: (choice, ledger) => {
        choice.records = ledger.sealed.flatMap(({ leaves }) =>
          leaves.filter(({ event, stream }) => event.person === `${SITE} alice` && stream === consentsOf(SITE)),
        ).length;
      },
      draft: (draft) => void Object.assign(lineOf(draft, 'bob 2'), { disclosures: [] }),
      ...PERSON,
    };
    yield {
      ...common,
      name: `the package is for another person than the one asked about in the world ${world}`,
      request: { person: 'bob' },
      options: () => ({ person: 'alice' }),
      check: 'completeness.person',
      verdict: 'invalid',
    };
    yield {
      ...common,
      name: `the package of a site is checked for a person in the world ${world}`,
      request: {},
      options: () => ({ person: 'alice' }),
      ...PERSON,
    };
  }
  yield {
    point: POINT,
    name: 'a receipt is of another person than the one asked about',
    receipt: { label: 'bob 1' },
    options: () => ({ person: 'alice' }),
    check: 'completeness.person',
    verdict: 'invalid',
  };
  yield {
    point: POINT,
    name: 'a receipt does not name the person who is asked about',
    receipt: { label: 'alice 1', disclose: 'none' },
    options: () => ({ person: 'alice' }),
    ...PERSON,
  };
  yield {
    point: POINT,
    name: 'two records of a site have one tag',
    plan: (plan) => {
      eventOf(plan, 'alice 2').number = 1;
    },
    check: 'batch.tags',
    verdict: 'invalid',
  };
}

function* sharedErasureTags(): Generator<Forgery> {
  const tagOf = (plan: ReturnType<typeof makePlan>) => {
    const tag = sha256('one tag for two erasures');
    for (const label of ['of bob 1', 'of carol 2'])
      plan.batches.set(SHARED, [
        ...(plan.batches.get(SHARED) ?? []),
        { ...erasure(label, SITE, sealedAt(plan, SHARED) - 1000, consentId(label.slice(3))), tag },
      ]);
  };
  yield {
    point: POINT,
    name: 'two erasures have one tag in one batch',
    plan: tagOf,
    check: 'batch.tags',
    verdict: 'invalid',
  };
  for (const world of ['small', 'rolled'] as const)
    yield {
      point: POINT,
      name: `a second erasure has the tag of the first one in the world ${world}`,
      world,
      plan: (plan) => {
        const number = plan.size - 2;
        const again = erasure('of carol 1 again', SITE, sealedAt(plan, number) - 1000, consentId('carol 1'));
        plan.batches.set(number, [{ ...again, tag: erasureTag(consentId('carol 1')) }]);
      },
      check: 'batch.tags',
      verdict: 'invalid',
    };
}

const FILES = { check: 'manifest.files', verdict: 'invalid' } as const;

function* strayFiles(): Generator<Forgery> {
  const changes: Readonly<Record<string, (draft: Draft) => void>> = {
    'a text that no one consented to': ({ files }) =>
      void files.set(`notices/${sha256Hex(TEXTS.forged)}`, TEXTS.forged),
    'the text of another site': ({ files }) => void files.set(`notices/${sha256Hex(TEXTS.other)}`, TEXTS.other),
    'an empty notice': ({ files }) => void files.set(`notices/${sha256Hex('')}`, utf8('')),
    'proofs of a batch without entries': (draft) => {
      const { sealed } = at(draft.batches, 0);
      draft.proofs.set(sealed.number, [{ index: 0, path: [] }]);
    },
    'proofs of a batch that it does not have': (draft) => void draft.proofs.set(10_000, [{ index: 0, path: [] }]),
    'tags of a batch without a tag': (draft) => void draft.tags.set(1, [{ hash: hex(sha256('')) }]),
    'tags of a batch that it does not have': (draft) => void draft.tags.set(10_000, [{ hash: hex(sha256('')) }]),
  };
  for (const [what, draft] of Object.entries(changes))
    yield { point: POINT, name: `a package for a site has ${what}`, draft, ...FILES };
  yield {
    point: POINT,
    name: 'a receipt has a text that no one consented to',
    receipt: { label: 'alice 1' },
    draft: ({ files }) => void files.set(`notices/${sha256Hex(TEXTS.forged)}`, TEXTS.forged),
    ...FILES,
  };
  yield {
    point: POINT,
    name: 'a receipt has the tags of a batch without its record',
    receipt: { label: 'alice 1' },
    draft: (draft) => {
      const sealed = at(draft.ledger.sealed, batchOf(draft.ledger.plan, 'alice 2'));
      support(draft, sealed.number);
      draft.tags.set(sealed.number, tagLines(sealed, new Set([0])));
    },
    ...FILES,
  };
}

/** A ledger that promises more time than its policy allows gains nothing. */
function* longPromises(): Generator<Forgery> {
  const PROMISED = makePlan(WORLDS.rolled);
  const created = Date.parse(String(eventOf(PROMISED, 'alice 1').record.created_at));
  const promise = promiseOf(PROMISED, 'alice 1', { sealedBefore: new Date(created + 172_800_000).toISOString() });
  const given = { world: 'rolled', options: () => ({ promises: [{ file: 'promise.json', promise }] }) } as const;
  const drop = (plan: ReturnType<typeof makePlan>): void => {
    const number = batchOf(plan, 'alice 1');
    plan.batches.set(
      number,
      (plan.batches.get(number) ?? []).filter(({ label }) => label !== 'alice 1'),
    );
  };
  const common = { point: POINT, ...given, check: 'promise.kept', verdict: 'invalid' } as const;
  yield { ...common, name: 'a dropped record was promised for 48 h although the policy allows 600 s', plan: drop };
  yield {
    ...common,
    name: 'a policy of 48 h is published after the promise, and dated back before it',
    plan: (plan) => {
      drop(plan);
      plan.batches.set(200, [policy(1, created - 1000, { seal_within_seconds: 172_800 })]);
    },
  };
  yield {
    ...common,
    name: 'a policy of 48 h was replaced by one of 600 s before the promise',
    plan: (plan) => {
      drop(plan);
      plan.batches.set(0, [policy(1, plan.start - 1000, { seal_within_seconds: 172_800 })]);
      plan.batches.set(5, [policy(2, sealedAt(plan, 5) - 1000)]);
    },
  };
}

export const FORGED_STRUCTURE: readonly Forgery[] = [
  ...cutRollUps(),
  ...neighbours(),
  ...persons(),
  ...sharedErasureTags(),
  ...strayFiles(),
  ...longPromises(),
];
