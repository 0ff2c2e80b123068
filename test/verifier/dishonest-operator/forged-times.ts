import type { Forgery } from './forgery.js';
import { type Plan, sealedAt } from './ledger.js';
import { hex, instant, type Json, type JsonRecord, sha256, sha256Hex } from './primitives.js';
import { batchOf, changeConfiguration, eventOf, type WORLDS } from './world.js';

const HOUR = 3_600_000;
const CLAIMED = { check: 'time.claimed', verdict: 'invalid' } as const;
const OPEN = { check: 'time.claimed', verdict: 'indeterminate' } as const;

type World = keyof typeof WORLDS;
const WORLD_NAMES: readonly World[] = ['small', 'rolled', 'rotated'];

/** Moves the claimed time of a record. @param by milliseconds */
const moved = (label: string, by: number): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    const { record } = eventOf(plan, label);
    const created = sealedAt(plan, batchOf(plan, label)) + by;
    record.created_at = instant(created);
    record.valid_until = instant(created + 24 * HOUR);
  },
});

/**
 * Moves the claimed time of a record with that of the site's first notices, so that these were in
 * force at the claimed time.
 * @param by milliseconds
 */
export const movedWithNotices = (label: string, by: number): Pick<Forgery, 'plan'> => ({
  plan: (plan) => {
    moved(label, by).plan?.(plan);
    const earlier = (notice: string): JsonRecord => {
      const { created_at: time } = eventOf(plan, notice).record;
      return { created_at: instant(Date.parse(String(time)) + by) };
    };
    changeConfiguration(plan, 'configuration 1', earlier('configuration 1'));
    for (const notice of ['published 1', 'activated 1']) Object.assign(eventOf(plan, notice).record, earlier(notice));
  },
});

/** Moves the time at which a package claims to be made. @param by milliseconds after the newest stamp */
const exported = (by: number): Pick<Forgery, 'draft'> => ({
  draft: (draft) => {
    draft.exportedAt += by;
  },
});

function* claimedTimes(): Generator<Forgery> {
  for (const world of WORLD_NAMES) {
    for (const hours of [1, 24, 8760])
      yield {
        point: 'A7',
        name: `a record claims to be ${hours} h younger than its stamp (world ${world})`,
        world,
        ...moved('bob 1', hours * HOUR),
        ...CLAIMED,
      };
    for (const hours of [25, 8760])
      yield {
        point: 'A7',
        name: `a record claims to be ${hours} h older than its stamp (world ${world})`,
        world,
        ...movedWithNotices('bob 1', -hours * HOUR),
        ...OPEN,
      };
    for (const hours of [1, 25])
      yield {
        point: 'A7',
        name: `a record claims to be ${hours} h older than its stamp, and so than its text (world ${world})`,
        world,
        ...moved('bob 1', -hours * HOUR),
        check: 'document.in-force',
        verdict: 'invalid',
      };
    yield {
      point: 'A5',
      name: `a package claims to be made an hour before its newest stamp (world ${world})`,
      world,
      ...exported(-HOUR),
      ...CLAIMED,
    };
  }
  for (const [what, hours] of [
    ['earlier than the stamp that it names', -2],
    ['later than its stamp', 2],
  ] as const)
    yield {
      point: 'A7',
      name: `a batch claims to be sealed ${what}`,
      world: 'rolled',
      lies: {
        header: (header, number) => {
          const isMoved = hours < 0 ? number >= 100 : number >= 60;
          if (isMoved) header.sealed_at = instant(Date.parse(String(header.sealed_at)) + hours * HOUR);
        },
      },
      check: hours < 0 ? 'batch.header' : 'time.claimed',
      verdict: 'invalid',
    };
}

function* stamps(): Generator<Forgery> {
  const late = (plan: Plan, change: (time: number, i: number) => number): void => {
    plan.stamps = plan.stamps.map(({ size, time }, i) => ({ size, time: change(time, i) }));
  };
  for (const world of WORLD_NAMES) {
    yield {
      point: 'A7',
      name: `the stamps of later checkpoints are earlier (world ${world})`,
      world,
      plan: (plan) => {
        const times = plan.stamps.map(({ time }) => time).reverse();
        late(plan, (time, i) => times[i] ?? time);
      },
      check: 'time.order',
      verdict: 'invalid',
    };
    yield {
      point: 'A7',
      name: `the newest stamp is left out (world ${world})`,
      world,
      draft: (draft) => {
        draft.files.delete(`checkpoints/${draft.size}.1.tsr`);
      },
      check: 'time.stamped',
      verdict: 'indeterminate',
    };
    yield {
      point: 'A7',
      name: `the stamp of another checkpoint is given for the newest (world ${world})`,
      world,
      draft: (draft) => {
        const other = draft.ledger.checkpoints.find(({ size }) => size !== draft.size);
        if (other !== undefined) draft.files.set(`checkpoints/${draft.size}.1.tsr`, other.response);
      },
      check: 'tst.imprint',
      verdict: 'invalid',
    };
  }
}

function* afters(): Generator<Forgery> {
  const changes: Readonly<Record<string, [Json, Forgery['check']]>> = {
    'a larger size than its number': [{ size: 999, sha256: hex(sha256('x')) }, 'batch.header'],
    'the size 0': [{ size: 0, sha256: hex(sha256('x')) }, 'batch.header'],
    'a checkpoint of the future': [{ size: 16, sha256: hex(sha256('x')) }, 'batch.header'],
  };
  for (const [what, [after, check]] of Object.entries(changes))
    yield {
      point: 'A7',
      name: `a batch names as its older stamp ${what}`,
      lies: {
        header: (header, number) => {
          if (number === 12) header.after = after;
        },
      },
      check,
      verdict: 'invalid',
    };
  yield {
    point: 'A7',
    name: 'a batch names no older stamp, although the one before it names one',
    lies: {
      header: (header, number) => {
        if (number === 12) header.after = null;
      },
    },
    check: 'batch.header',
    verdict: 'invalid',
  };
  yield {
    point: 'A7',
    name: 'batches name an older stamp with another digest',
    lies: {
      header: (header) => {
        const { after } = header;
        if (after !== null && after !== undefined) header.after = { ...Object(after), sha256: sha256Hex('x') };
      },
    },
    check: 'time.start',
    verdict: 'invalid',
  };
}

/** Times that the stamps do not contradict, but the ledger's delays would. */
function* lateTimes(): Generator<Forgery> {
  for (const hours of [2, 12, 21])
    yield {
      point: 'A7',
      name: `a record claims to be ${hours} h older than its stamp`,
      ...movedWithNotices('bob 1', -hours * HOUR),
      ...OPEN,
    };
  yield {
    point: 'A6',
    name: 'a record claims to be 30 min older than the stamp that its batch names',
    ...movedWithNotices('alice 2', -HOUR / 2),
    ...OPEN,
  };
  yield {
    point: 'A7',
    name: 'no batch names an older stamp',
    world: 'rolled',
    lies: {
      header: (header: JsonRecord) => {
        header.after = null;
      },
    },
    check: 'time.start',
    verdict: 'indeterminate',
  };
  yield {
    point: 'A7',
    name: 'the claimed times of a stream decrease by 9 minutes',
    plan: (plan) => {
      const { record } = eventOf(plan, 'alice 1');
      record.created_at = instant(sealedAt(plan, batchOf(plan, 'alice 1')) + 250_000);
      const { record: later } = eventOf(plan, 'alice 2');
      later.created_at = instant(sealedAt(plan, batchOf(plan, 'alice 2')) - 330_000);
    },
    ...OPEN,
  };
  yield {
    point: 'A5',
    name: 'a package is exported 26 h after its newest stamp',
    ...exported(26 * HOUR),
    check: 'time.fresh',
    verdict: 'indeterminate',
  };
  yield {
    point: 'A5',
    name: 'a package claims to be made in a year',
    ...exported(365 * 24 * HOUR),
    check: 'time.fresh',
    verdict: 'invalid',
  };
}

/** Times that the stamps, or the ledger's delays, contradict: issue points A5 to A7. */
export const FORGED_TIMES: readonly Forgery[] = [...claimedTimes(), ...stamps(), ...afters(), ...lateTimes()];
