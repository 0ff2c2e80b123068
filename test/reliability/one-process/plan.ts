import { seededRandom } from '../simulation/scheduler.js';

/** How a single call fails. */
export type CallFault = 'refused' | 'answer lost' | 'late' | 'doubled';

/** A fault of the world beside the calls. */
export type WorldFault =
  | 'a worker is killed'
  | 'a worker hangs'
  | 'the api hangs'
  | 'the database server restarts'
  | 'the database is backed up'
  | 'the database goes back in time'
  | 'the database and the log are backed up'
  | 'the database and the log go back in time'
  | 'a standby takes over'
  | 'a row is wrong'
  | 'the rows are right again'
  | 'the log is backed up'
  | 'the log goes back in time'
  | 'another program writes to the log'
  | 'the log loses events'
  | 'a stream is deleted'
  | 'the streams are there again'
  | 'an operator recovers the log'
  | 'time passes';

/** A fault at a place of the history: before the call of this number. */
export interface Disturbance {
  readonly at: number;
  readonly fault: CallFault | WorldFault;
  /** Chooses among what the fault can hit, from 0 to below 1. */
  readonly choice: number;
}

/** Everything that decides a history. The same plan gives the same decisions. */
export interface Plan {
  readonly seed: number;
  readonly consents: number;
  /** Time in which they arrive, in milliseconds. */
  readonly arrivalsMs: number;
  /** Persons who have their records erased. */
  readonly erasures: number;
  readonly workers: number;
  /** Number of authorities that must stamp a checkpoint. */
  readonly quorum: number;
  /** Whether the seed chooses among the calls that wait; otherwise the first one is next. */
  readonly isShuffled: boolean;
  readonly disturbances: readonly Disturbance[];
}

const CALL_FAULTS: readonly CallFault[] = ['refused', 'answer lost', 'late', 'doubled'];

/** Faults that go together, with their distances in calls. */
const SCENES: readonly (readonly (readonly [WorldFault, number])[])[] = [
  [['a worker is killed', 0]],
  [['a worker hangs', 0]],
  [['the api hangs', 0]],
  [['the database server restarts', 0]],
  [
    ['the database is backed up', 0],
    ['the database goes back in time', 120],
  ],
  [
    ['the database is backed up', 0],
    ['the database goes back in time', 60],
    ['an operator recovers the log', 60],
  ],
  [
    ['the database and the log are backed up', 0],
    ['the database and the log go back in time', 120],
  ],
  [
    ['a standby takes over', 0],
    ['time passes', 250],
  ],
  [
    ['a row is wrong', 0],
    ['the rows are right again', 40],
  ],
  [
    ['a row is wrong', 0],
    ['the rows are right again', 120],
  ],
  [
    ['the log is backed up', 0],
    ['the log goes back in time', 60],
    ['an operator recovers the log', 60],
  ],
  [['another program writes to the log', 0]],
  [['the log loses events', 0]],
  [
    ['a stream is deleted', 0],
    ['the streams are there again', 80],
  ],
];

/** Calls of a history in which faults hit. */
const FAULTY_CALLS = 260;

/** Makes the plan of a seed. */
export function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const upTo = (limit: number): number => Math.floor(random() * limit);
  const disturbances: Disturbance[] = [];
  for (let scene = upTo(3); scene > 0; scene -= 1) {
    let at = upTo(FAULTY_CALLS);
    for (const [fault, distance] of SCENES[upTo(SCENES.length)] ?? []) {
      at += distance === 0 ? 0 : 1 + upTo(distance);
      disturbances.push({ at, fault, choice: random() });
    }
  }
  // Most scenes show more when no call fails beside them.
  for (let fault = Math.max(0, upTo(14) - 6); fault > 0; fault -= 1)
    disturbances.push({
      at: upTo(FAULTY_CALLS),
      fault: CALL_FAULTS[upTo(CALL_FAULTS.length)] ?? 'refused',
      choice: random(),
    });
  const isLong = disturbances.some(({ fault }) => fault === 'a standby takes over');
  return {
    seed,
    consents: isLong ? 8 : 2 + upTo(5),
    arrivalsMs: isLong ? 30_000 : 8_000,
    // Each third history.
    erasures: Math.max(0, upTo(6) - 3),
    workers: 1 + upTo(2),
    quorum: 1 + upTo(2),
    isShuffled: true,
    disturbances: disturbances.toSorted((a, b) => a.at - b.at),
  };
}
