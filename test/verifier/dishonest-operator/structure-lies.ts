import { byBytes, type LedgerLies, type Plan, type Run, streamKey } from './ledger.js';
import { consentsOf, eventOf, OTHER_SITE, policy, SITE } from './world.js';

/*
 * Lies of an operator about the structure of its ledger. Everything else is honest, and is published as
 * the lie has it.
 */

export const ROLL_UP = 127;
/** Batches with consents under the first roll-up. */
export const [EARLY, LATE] = [60, 80];

/** Changes the runs of one leaf, and lets them tile it again. */
export const bend =
  (number: number, change: (runs: Run[]) => Run[]): LedgerLies['runs'] =>
  (honest, at) => {
    if (at !== number) return honest;
    let start = 0;
    return change(honest.map((run) => ({ ...run }))).map((run) => {
      const moved = { ...run, start };
      start += run.last - run.first + 1;
      return moved;
    });
  };
/** Moves both ends of the run of a stream. */
export const shift =
  (stream: string, first: number, last: number) =>
  (runs: Run[]): Run[] =>
    runs.map((run) => (run.stream === stream ? { ...run, first: run.first + first, last: run.last + last } : run));

export interface StructureLie {
  readonly plan?: (plan: Plan) => void;
  readonly lies?: LedgerLies;
  /** Kind of the contradiction proof. */
  readonly kind: string;
}

/** Seals a policy early. */
export const addPolicy = (plan: Plan): void => {
  plan.batches.set(3, [policy(1, plan.start + 20_000)]);
};
/** The consents of the site. */
export const OURS = consentsOf(SITE);
const first = <T>(items: readonly T[]): T => {
  const [item] = items;
  if (item === undefined) throw new RangeError('there is none');
  return item;
};

/** Lies about the structure of a ledger of the world `rolled`, by what they are. */
export const STRUCTURE_LIES: Readonly<Record<string, StructureLie>> = {
  'a gap in a stream, many batches after its last event': {
    lies: { runs: bend(LATE, shift(OURS, 1, 1)) },
    kind: 'absent',
  },
  'a stream that starts after its first event': { lies: { runs: bend(EARLY, shift(OURS, 3, 3)) }, kind: 'absent' },
  'a gap in a stream across a roll-up': { lies: { runs: bend(140, shift(OURS, 1, 1)) }, kind: 'absent' },
  'a run that repeats revisions': { lies: { runs: bend(LATE, shift(OURS, -1, -1)) }, kind: 'runs' },
  'runs that are not sorted': { lies: { runs: bend(EARLY, (runs) => runs.toReversed()) }, kind: 'leaves' },
  'one stream twice in a batch': {
    lies: { runs: bend(EARLY, ([run, ...more]) => (run ? [run, run, ...more] : [])) },
    kind: 'leaves',
  },
  'a roll-up that cuts the end of a run': { lies: { runs: bend(ROLL_UP, shift(OURS, 0, -1)) }, kind: 'runs' },
  'a roll-up that cuts the start of a run': { lies: { runs: bend(ROLL_UP, shift(OURS, 1, 0)) }, kind: 'runs' },
  'a roll-up that moves an event between streams': {
    lies: { runs: bend(ROLL_UP, (runs) => shift(consentsOf(OTHER_SITE), 0, 1)(shift(OURS, 0, -1)(runs))) },
    kind: 'absent',
  },
  'a roll-up that extends a run': { lies: { runs: bend(ROLL_UP, shift(OURS, 0, 2)) }, kind: 'absent' },
  'a later roll-up that starts a run too early': { lies: { runs: bend(255, shift(OURS, -1, 0)) }, kind: 'runs' },
  'a roll-up without a stream': {
    lies: { runs: bend(ROLL_UP, (runs) => runs.filter(({ stream }) => stream !== OURS)) },
    kind: 'leaves',
  },
  'a roll-up with a stream of no batch': {
    lies: {
      runs: bend(255, (runs) =>
        [...runs, { stream: `consents-${'0'.repeat(36)}`, start: 0, first: 0, last: 0 }].sort((a, b) =>
          byBytes(streamKey(a.stream), streamKey(b.stream)),
        ),
      ),
    },
    kind: 'absent',
  },
  'a roll-up that counts other entries': {
    lies: {
      header: (header, number) =>
        void (number === ROLL_UP && Object.assign(header, { count: Number(header.count) + 1 })),
    },
    kind: 'runs',
  },
  'a batch that counts other entries': {
    lies: {
      header: (header, number) => void (number === EARLY && Object.assign(header, { count: Number(header.count) + 1 })),
    },
    kind: 'runs',
  },
  'a tag in two batches of one period': {
    plan: (plan) => {
      eventOf(plan, 'alice 2').tag = new Uint8Array(32).fill(7);
      eventOf(plan, 'carol 2').tag = new Uint8Array(32).fill(7);
    },
    kind: 'leaves',
  },
  'a tag in two batches that the roll-up has once': {
    plan: (plan) => {
      eventOf(plan, 'alice 2').tag = new Uint8Array(32).fill(7);
      eventOf(plan, 'carol 2').tag = new Uint8Array(32).fill(7);
    },
    lies: {
      tags: (tags, number) =>
        number < ROLL_UP ? tags : tags.filter((tag, i) => tag[0] !== 7 || tags[i - 1]?.[0] !== 7 || tag[31] !== 7),
    },
    kind: 'leaves',
  },
  'a tag in two batches of two periods': {
    plan: (plan) => {
      eventOf(plan, 'alice 2').tag = new Uint8Array(32).fill(7);
      eventOf(plan, 'alice 4').tag = new Uint8Array(32).fill(7);
    },
    kind: 'leaves',
  },
  'tags that are not sorted': {
    lies: { tags: (tags, number) => (number === EARLY ? tags.toReversed() : tags) },
    kind: 'leaves',
  },
  'a tag twice in a batch': {
    lies: { tags: (tags, number) => (number === EARLY ? [first(tags), first(tags), ...tags.slice(2)] : tags) },
    kind: 'leaves',
  },
  'a roll-up without a tag': {
    lies: { tags: (tags, number) => (number === ROLL_UP ? tags.slice(1) : tags) },
    kind: 'leaves',
  },
  'a roll-up with a tag of no batch': {
    lies: {
      tags: (tags, number) => (number === ROLL_UP ? [...tags.slice(0, -1), new Uint8Array(32).fill(255)] : tags),
    },
    kind: 'leaves',
  },
  'a roll-up with a tag more': {
    lies: { tags: (tags, number) => (number === 255 ? [...tags, new Uint8Array(32).fill(255)] : tags) },
    kind: 'absent',
  },
  'policies that are not counted': {
    plan: addPolicy,
    lies: { header: (header) => void Object.assign(header, { policies: 0 }) },
    kind: 'policies',
  },
  'a policy that a roll-up counts': {
    plan: addPolicy,
    lies: { header: (header, number) => void (number >= ROLL_UP && Object.assign(header, { policies: 2 })) },
    kind: 'policies',
  },
  'a policy that no batch has': {
    plan: addPolicy,
    lies: { header: (header, number) => void (number >= 90 && Object.assign(header, { policies: 2 })) },
    kind: 'policies',
  },
  'policies that decrease': {
    plan: addPolicy,
    lies: { header: (header, number) => void (number >= 90 && Object.assign(header, { policies: 0 })) },
    kind: 'headers',
  },
  'a time of sealing that decreases': {
    lies: {
      header: (header, number) =>
        void (number === 90 && Object.assign(header, { sealed_at: '2026-01-01T00:00:00.000Z' })),
    },
    kind: 'headers',
  },
  'an older time stamp than before': {
    lies: { header: (header, number) => void (number === 230 && Object.assign(header, { after: null })) },
    kind: 'headers',
  },
  'a leaf with the number of another': {
    lies: { header: (header, number) => void (number === 90 && Object.assign(header, { number: 91 })) },
    kind: 'header',
  },
};
