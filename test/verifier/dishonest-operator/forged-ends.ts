import { batchLine, type Draft, type Request } from './export.js';
import { type Forgery, leaveOut } from './forgery.js';
import { coverOf, type LedgerLies, type Plan, sealedAt, streamKey } from './ledger.js';
import { at, hex, type JsonRecord, uuid } from './primitives.js';
import { Tree } from './trees.js';
import {
  batchOf,
  consent,
  consentId,
  consentsOf,
  eventOf,
  noticesOf,
  OTHER_SITE,
  SITE,
  TEXTS,
  THIRD_SITE,
  WORLDS,
} from './world.js';

const POINT = 'A2';
const RUNS = { check: 'completeness.runs', verdict: 'invalid' } as const;
const STREAMS = { check: 'batch.streams', verdict: 'invalid' } as const;

type World = keyof typeof WORLDS;
const WORLD_NAMES: readonly World[] = ['small', 'rolled', 'rotated'];

/** Requests whose packages must contain all notices. */
const FILTERED: Readonly<Record<string, Request>> = {
  'the site': {},
  'a person': { person: 'bob' },
  'an event id': { eventIds: [consentId('bob 1')] },
  'a time range': { from: '2026-03-02T08:00:00.000Z' },
};

/** Events left off at the end of a stream, everything else being as in the honest package. */
function* shortened(): Generator<Forgery> {
  const ends = [['alice 4'], ['alice 4', 'bob 3'], ['alice 4', 'bob 3', 'nobody 2', 'bob 2', 'alice 3']];
  for (const world of WORLD_NAMES)
    for (const end of ends)
      yield {
        point: POINT,
        name: `the last ${end.length} records of the site are left out in the world ${world}`,
        world,
        choice: (choice) => leaveOut(choice, ...end),
        ...RUNS,
      };
  for (const [what, request] of Object.entries(FILTERED))
    for (const end of [['activated 2'], ['retired 1', 'activated 2']])
      yield {
        point: POINT,
        name: `the last ${end.length} notices are left out of a package for ${what}`,
        request,
        choice: (choice) => leaveOut(choice, ...end),
        ...RUNS,
      };
  for (const label of ['nobody 1', 'bob 1', 'of carol 1', 'alice 3'])
    yield {
      point: POINT,
      name: `${label} is left out in the middle`,
      choice: (choice) => leaveOut(choice, label),
      ...RUNS,
    };
}

/** Batches that the package does not account for. */
function* unaccounted(): Generator<Forgery> {
  for (const world of WORLD_NAMES) {
    const { size } = WORLDS[world];
    const cover = coverOf(size);
    const picked = cover.filter((_, i) => cover.length <= 16 || i === 0 || i % 6 === 1 || i === cover.length - 1);
    for (const number of picked)
      yield {
        point: POINT,
        name: `leaf ${number} of the cover is left out in the world ${world}`,
        world,
        draft: (draft) => {
          draft.batches = draft.batches.filter(({ sealed }) => sealed.number !== number);
        },
        ...RUNS,
      };
    for (const last of [1, 3, 6])
      yield {
        point: POINT,
        name: `the last ${last} batches and their events are left out in the world ${world}`,
        world,
        choice: (choice) => {
          choice.entries = new Map([...choice.entries].filter(([, { number }]) => number < size - last));
        },
        draft: (draft) => {
          draft.batches = draft.batches.filter(({ sealed }) => sealed.number < size - last);
        },
        ...RUNS,
      };
  }
  for (const [what, request] of Object.entries(FILTERED))
    yield {
      point: POINT,
      name: `the last batch is left out of a package for ${what}`,
      request,
      draft: (draft) => {
        draft.batches.pop();
      },
      ...RUNS,
    };
  yield {
    point: POINT,
    name: 'a roll-up is left out, and all of its batches are included',
    world: 'rolled',
    draft: (draft) => {
      const { ledger, size } = draft;
      const lines = ledger.sealed
        .slice(0, 127)
        .map((sealed) => batchLine(ledger, sealed, size, new Set(sealed.runs.keys())));
      draft.batches = [...lines, ...draft.batches.filter(({ sealed }) => sealed.number > 127)];
    },
    ...RUNS,
  };
}

const SITES = [SITE, OTHER_SITE, THIRD_SITE];
const LAST_BATCH = 14;

/** One last record of each site, all in one batch. */
function addLastRecords(plan: Plan): void {
  const time = sealedAt(plan, LAST_BATCH) - 5000;
  const events = SITES.map((site) => {
    const isFirst = site === SITE;
    const label = isFirst ? 'configuration 2' : `configuration of ${site}`;
    const named = { site, configuration: eventOf(plan, label, site).record };
    const text = isFirst ? { version: 2, content: TEXTS.second } : { content: TEXTS.other };
    return consent(`last of ${site}`, time, { ...named, ...text });
  });
  plan.batches.set(LAST_BATCH, events);
}

function reshow(draft: Draft, number: number, indexes: readonly number[]): JsonRecord[] {
  const position = draft.batches.findIndex(({ sealed }) => sealed.number === number);
  const { sealed } = at(draft.batches, position);
  const { size } = draft;
  const shown = new Set(indexes.filter((index) => index >= 0 && index < sealed.runs.length));
  const line = batchLine(draft.ledger, sealed, size, shown);
  draft.batches[position] = line;
  return line.streams;
}

const indexOfRun = (draft: Draft): number =>
  at(draft.ledger.sealed, LAST_BATCH).runs.findIndex(({ stream }) => stream === consentsOf(draft.site));

/** Ways to say that a batch has no run of a stream, although it has. */
const FALSE_ABSENCES: Readonly<Record<string, (draft: Draft, index: number) => void>> = {
  'both neighbours of the run are shown': (draft, index) => void reshow(draft, LAST_BATCH, [index - 1, index + 1]),
  'only what is before the run is shown': (draft, index) => void reshow(draft, LAST_BATCH, [index - 1]),
  'only what is after the run is shown': (draft, index) => void reshow(draft, LAST_BATCH, [index + 1]),
  'no run is shown': (draft) => void reshow(draft, LAST_BATCH, []),
  'all other runs are shown': (draft, index) =>
    void reshow(
      draft,
      LAST_BATCH,
      [0, 1, 2].filter((one) => one !== index),
    ),
};

/** Ways to change a shown run, which its root no longer confirms. */
const FALSE_RUNS: Readonly<Record<string, (run: JsonRecord) => void>> = {
  'the run has a smaller last revision': (run) => {
    run.last = Number(run.last) - 1;
  },
  'the run has another first revision': (run) => {
    run.first = Number(run.first) + 1;
  },
  'the run is that of another stream': (run) => {
    run.key = hex(streamKey(consentsOf(uuid('no site'))));
  },
  'the run starts elsewhere': (run) => {
    run.start = Number(run.start) + 1;
  },
};

function* falseAbsences(): Generator<Forgery> {
  for (const [i, site] of SITES.entries()) {
    const common = { point: POINT, request: { site }, plan: addLastRecords };
    const leftOut: Forgery['choice'] = (choice) => leaveOut(choice, `last of ${site}`);
    for (const [how, forge] of Object.entries(FALSE_ABSENCES))
      yield {
        ...common,
        name: `the last record of site ${i + 1} is left out: ${how}`,
        choice: leftOut,
        draft: (draft) => forge(draft, indexOfRun(draft)),
        ...RUNS,
      };
    for (const [how, change] of Object.entries(FALSE_RUNS))
      yield {
        ...common,
        name: `the last record of site ${i + 1} is left out: ${how}`,
        choice: leftOut,
        draft: (draft) => change(at(reshow(draft, LAST_BATCH, [indexOfRun(draft)]), 0)),
        ...STREAMS,
      };
  }
}

/** Roll-ups that contradict the batches below them, of which the package shows records. */
function* falseRollUps(): Generator<Forgery> {
  const own = consentsOf(SITE);
  const runs = (number: number, change: (run: { first: number; last: number }) => void): LedgerLies => ({
    runs: (honest, at) =>
      at === number
        ? honest.map((run) => {
            const copy = { ...run };
            if (run.stream === own) change(copy);
            return copy;
          })
        : honest,
  });
  const without = (number: number, stream: string): LedgerLies => ({
    runs: (honest, at) => (at === number ? honest.filter((run) => run.stream !== stream) : honest),
  });
  for (const number of [127, 255]) {
    const common = { point: POINT, world: 'rolled' as const };
    for (const [what, stream] of [
      ['consents', own],
      ['notices', noticesOf(SITE)],
    ] as const)
      yield { ...common, name: `roll-up ${number} omits the ${what}`, lies: without(number, stream), ...STREAMS };
    const shorter = runs(number, (run) => {
      run.last -= 1;
    });
    const later = runs(number, (run) => {
      run.first += 1;
    });
    const longer = runs(number, (run) => {
      run.last += 1;
    });
    yield { ...common, name: `roll-up ${number} omits the last revision`, lies: shorter, ...STREAMS };
    yield { ...common, name: `roll-up ${number} omits the first revision`, lies: later, ...STREAMS };
    yield { ...common, name: `roll-up ${number} has a revision too many`, lies: longer, ...RUNS };
    const tags: LedgerLies = { tags: (honest, at) => (at === number ? honest.slice(1) : honest) };
    yield {
      ...common,
      name: `roll-up ${number} omits a person tag`,
      lies: tags,
      check: 'batch.tags',
      verdict: 'invalid',
    };
    for (const [what, change] of Object.entries(FALSE_HEADERS))
      yield {
        ...common,
        name: `roll-up ${number} ${what}`,
        lies: { header: (header, at) => (at === number ? Object.assign(header, change) : header) },
        check: 'batch.header',
        verdict: 'invalid',
      };
  }
  for (const level of [1, 2])
    yield {
      point: POINT,
      name: `a batch claims to be a roll-up of level ${level}`,
      lies: { header: (header, number) => (number === 7 ? Object.assign(header, { level, root: null }) : header) },
      check: 'batch.header',
      verdict: 'invalid',
    };
}

const EMPTY = Buffer.from(new Tree([]).root()).toString('hex');
const FALSE_HEADERS: Readonly<Record<string, JsonRecord>> = {
  'claims to be a batch': { level: 0, root: EMPTY, count: 0, streams_count: 0, streams_root: EMPTY },
  'claims the other level': { level: 2 },
  'has a root of entries': { root: EMPTY },
  'has streams and no entry': { count: 0 },
  'has the root of an empty tree over its streams': { streams_root: EMPTY },
  'has the root of an empty tree over its tags': { tags_root: EMPTY },
};

/** Trees of runs that are not sorted, of which the package shows enough to see it. */
function* unsorted(): Generator<Forgery> {
  const own = [consentsOf(SITE), noticesOf(SITE)];
  const orders: Readonly<Record<string, LedgerLies['runs']>> = {
    'in reverse': (runs) => runs.toReversed(),
    'in reverse, with the starts of the new order': (runs) => {
      let start = 0;
      return runs.toReversed().map((run) => {
        const moved = { ...run, start };
        start += run.last - run.first + 1;
        return moved;
      });
    },
    'with one run twice': (runs) => runs.flatMap((run) => (own.includes(run.stream) ? [run, run] : [run])),
  };
  for (const [how, runs] of Object.entries(orders))
    for (const number of [1, 3, 4])
      yield {
        point: POINT,
        name: `the runs of batch ${number} are sealed ${how}`,
        lies: { runs: (honest, at) => (at === number ? (runs?.(honest, at) ?? honest) : honest) },
        draft: (draft) => {
          const { ledger, size } = draft;
          const position = draft.batches.findIndex(({ sealed }) => sealed.number === number);
          const { sealed } = at(draft.batches, position);
          draft.batches[position] = batchLine(ledger, sealed, size, new Set(sealed.runs.keys()));
        },
        ...STREAMS,
      };
}

/** Runs of the manifest that do not say what the package contains. */
function* falseClaims(): Generator<Forgery> {
  for (const stream of [consentsOf(SITE), noticesOf(SITE)]) {
    const what = stream.startsWith('consents') ? 'consents' : 'notices';
    const changes: Readonly<Record<string, (draft: Draft) => void>> = {
      'are not claimed': (draft) => {
        draft.complete = draft.complete.filter((run) => run.stream !== stream);
      },
      'are claimed without the last revision': (draft) => {
        draft.complete = draft.complete.map((run) => (run.stream === stream ? { ...run, last: run.last - 1 } : run));
      },
      'are claimed without revision 0': (draft) => {
        draft.complete = draft.complete.map((run) => (run.stream === stream ? { ...run, first: 1 } : run));
      },
      'are claimed beyond the last revision': (draft) => {
        draft.complete = draft.complete.map((run) => (run.stream === stream ? { ...run, last: run.last + 1 } : run));
      },
      'are claimed twice': (draft) => {
        draft.complete = [...draft.complete, ...draft.complete.filter((run) => run.stream === stream)];
      },
      'are claimed but for one': (draft) => {
        draft.complete = draft.complete.flatMap((run) =>
          run.stream === stream
            ? [
                { ...run, last: 1 },
                { ...run, first: 3 },
              ]
            : [run],
        );
      },
    };
    for (const [how, draft] of Object.entries(changes))
      yield { point: POINT, name: `the ${what} ${how}`, draft, ...RUNS };
  }
}

/** Batches that are not where they claim to be. */
function* falsePlaces(): Generator<Forgery> {
  const changes: Readonly<Record<string, [(draft: Draft) => void, Forgery['check']]>> = {
    'has the path of another batch': [
      ({ batches }) => Object.assign(at(batches, 5), { path: at(batches, 6).path }),
      'batch.inclusion',
    ],
    'has a path that is too short': [({ batches }) => void at(batches, 5).path.pop(), 'batch.inclusion'],
    'has a path that is too long': [({ batches }) => void at(batches, 5).path.push('0'.repeat(64)), 'batch.inclusion'],
    'has a changed header': [
      ({ batches }) => {
        const line = at(batches, 5);
        line.header = line.header.replace('"count":', '"count":1');
      },
      'batch.inclusion',
    ],
    'has a header that is not canonical': [
      ({ batches }) => {
        const line = at(batches, 5);
        line.header = ` ${line.header}`;
      },
      'batch.header',
    ],
    'is in the file twice': [({ batches }) => void batches.splice(5, 0, at(batches, 5)), 'batch.header'],
    'is out of order': [({ batches }) => void batches.reverse(), 'batch.header'],
  };
  for (const [how, [draft, check]] of Object.entries(changes))
    yield { point: POINT, name: `a batch ${how}`, draft, check, verdict: 'invalid' };
}

/** Forgeries of the end of a stream: issue point A2. The batch of `alice 4` has the last record of the site. */
export const FORGED_ENDS: readonly Forgery[] = [
  ...shortened(),
  ...unaccounted(),
  ...falseAbsences(),
  ...falseRollUps(),
  ...unsorted(),
  ...falseClaims(),
  ...falsePlaces(),
  {
    point: POINT,
    name: 'the batch of the last record is exchanged for an earlier one',
    draft: (draft) => {
      const number = batchOf(draft.ledger.plan, 'alice 4');
      const position = draft.batches.findIndex(({ sealed }) => sealed.number === number);
      draft.batches[position] = { ...at(draft.batches, position - 1) };
    },
    check: 'batch.header',
    verdict: 'invalid',
  },
];
