import { type Forgery, leaveOut } from './forgery.js';
import { type NamedKey, namedKey } from './keys.js';
import type { Plan } from './ledger.js';
import { at, type JsonRecord } from './primitives.js';
import { rewrite } from './rewrite.js';
import { announcement, noticesOf, ORIGIN, SITE } from './world.js';

/*
 * The operator, or the thief of an old key, passes the ledger on to keys that its keys did not announce. The
 * ledger of these forgeries is stamped at 20, 80 and 140 leaves; batch 79 announces the next key.
 */

const POINT = 'keys';
const HANDOVER = 80;
const NEWEST = 140;
const LABEL = 'announcement 1';
const STRANGER = namedKey(ORIGIN, 'key of a thief');
const ELSEWHERE = namedKey('other.example', 'key of another ledger');

/** Lets other keys sign the checkpoint of a size. */
function signing(size: number, keys: (plan: Plan) => readonly NamedKey[]): (plan: Plan) => void {
  return (plan) => {
    const { signers } = plan;
    plan.signers = (one) => (one === size ? keys(plan) : signers(one));
  };
}

/** Announces keys in a batch. */
function announcing(number: number, label: string, change: JsonRecord = {}): (plan: Plan) => void {
  return (plan) => {
    const event = announcement(label, [plan.keys.next.line], plan.start + number * 10_000 - 1000);
    Object.assign(event.record, change);
    plan.batches.set(number, [...(plan.batches.get(number) ?? []), event]);
  };
}

/** Takes the announcement back before it is sealed. */
function silent(plan: Plan): void {
  for (const [number, events] of plan.batches)
    plan.batches.set(
      number,
      events.filter(({ label }) => label !== LABEL),
    );
}

const both =
  (...changes: readonly ((plan: Plan) => void)[]) =>
  (plan: Plan): void => {
    for (const change of changes) change(plan);
  };

const CASES: readonly [string, Partial<Forgery>, Forgery['check']][] = [
  [
    'the announced key does not sign the first checkpoint over its announcement',
    { plan: signing(HANDOVER, ({ keys }) => [keys.first]) },
    'ledger.announcement',
  ],
  [
    'only the announced key signs the first checkpoint over its announcement',
    { plan: signing(HANDOVER, ({ keys }) => [keys.next]) },
    'ledger.key',
  ],
  [
    'the announcement comes after the first checkpoint of the new key alone',
    {
      plan: both(
        silent,
        announcing(100, LABEL),
        signing(HANDOVER, ({ keys }) => [keys.next]),
      ),
    },
    'ledger.key',
  ],
  [
    'the announcement comes after a checkpoint that both keys signed',
    { plan: both(silent, announcing(100, LABEL)) },
    'ledger.key',
  ],
  ['a new key signs without an announcement', { plan: silent }, 'ledger.key'],
  [
    'the announcement is left out of the package',
    { choice: (choice) => leaveOut(choice, LABEL) },
    'completeness.policies',
  ],
  [
    'the announcement is left out of the package of one record',
    { request: { eventIds: [] }, choice: (choice) => leaveOut(choice, LABEL) },
    'completeness.policies',
  ],
  [
    'the announcement is not the sealed one',
    { draft: (draft) => rewrite(draft, LABEL, { keys: [STRANGER.line] }) },
    'ledger.announcement',
  ],
  [
    'a thief adds a signature to the checkpoint, and an announcement that is not sealed to the package',
    {
      plan: both(
        signing(HANDOVER, ({ keys }) => [keys.first, STRANGER]),
        signing(NEWEST, () => [STRANGER]),
      ),
      draft: (draft) => rewrite(draft, LABEL, { keys: [STRANGER.line] }),
    },
    'ledger.announcement',
  ],
  [
    'the announcement is shown in a batch that does not have it',
    {
      draft: (draft) => {
        const line = at(
          draft.entries.filter(({ leaf }) => leaf.event.label === LABEL),
          0,
        );
        line.batch = 20;
      },
    },
    'entry.inclusion',
  ],
  ['one key is announced twice', { plan: announcing(85, 'announcement 2') }, 'ledger.announcement'],
  [
    'a thief of the old key announces another successor',
    {
      plan: both(
        announcing(85, 'announcement 2', { keys: [STRANGER.line] }),
        signing(NEWEST, ({ keys }) => [keys.first, STRANGER]),
      ),
    },
    'ledger.announcement',
  ],
  [
    'a retired key is announced again',
    {
      plan: (plan) =>
        both(
          announcing(85, 'announcement 2', { keys: [STRANGER.line] }),
          announcing(90, 'announcement 3', { keys: [plan.keys.next.line] }),
          signing(NEWEST, ({ keys }) => [keys.next, STRANGER]),
        )(plan),
    },
    'ledger.announcement',
  ],
  [
    'the announced key is of another ledger',
    {
      plan: both(
        silent,
        announcing(79, LABEL, { keys: [ELSEWHERE.line] }),
        signing(HANDOVER, ({ keys }) => [keys.first, ELSEWHERE]),
        signing(NEWEST, () => [ELSEWHERE]),
      ),
    },
    'ledger.announcement',
  ],
  [
    'the announced key has white space around it',
    { plan: (plan) => both(silent, announcing(79, LABEL, { keys: [`${plan.keys.next.line} `] }))(plan) },
    'ledger.announcement',
  ],
  [
    'the announcement names one key twice',
    { plan: (plan) => both(silent, announcing(79, LABEL, { keys: [plan.keys.next.line, plan.keys.next.line] }))(plan) },
    'ledger.announcement',
  ],
  ['the announcement names no key', { plan: both(silent, announcing(79, LABEL, { keys: [] })) }, 'record.format'],
  [
    'the announcement is among the notices of the site',
    {
      plan: (plan) => {
        for (const event of plan.batches.get(79) ?? []) if (event.label === LABEL) event.stream = noticesOf(SITE);
      },
    },
    'entry.stream',
  ],
  ['the old key signs after the change', { plan: signing(NEWEST, ({ keys }) => [keys.first]) }, 'ledger.key'],
  [
    'the next key signs before its announcement, and is the one that the reader has',
    {
      plan: signing(20, ({ keys }) => [keys.next]),
      options: ({ plan }) => ({ ledgerKeys: [plan.keys.next] }),
    },
    'ledger.announcement',
  ],
];

/** Changes of the ledger's keys. */
export const FORGED_KEYS: readonly Forgery[] = CASES.map(([name, rest, check]) => ({
  point: POINT,
  name,
  world: 'rotated',
  ...rest,
  check,
  verdict: 'invalid',
}));
