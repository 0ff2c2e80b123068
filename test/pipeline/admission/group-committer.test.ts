import { describe, expect, it } from 'vitest';
import { createGroupCommitter, type GroupCommitterOptions } from '../../../src/pipeline/admission/group-committer.js';

class Poison extends Error {}
class Overloaded extends Error {}

interface Item {
  readonly name: string;
  readonly keys?: readonly string[];
  readonly weight?: number;
}

/** Creates a committer whose groups end on command of the test. */
function committer(options: Partial<GroupCommitterOptions<Item, string>> = {}) {
  const groups: string[][] = [];
  const gates: (() => void)[] = [];
  const made = createGroupCommitter<Item, string>({
    send: async (items) => {
      groups.push(items.map(({ name }) => name));
      await new Promise<void>((resolve) => gates.push(resolve));
      if (items.some(({ name }) => name === 'poison')) throw new Poison('bad item');
      return items.map(({ name }) => `done ${name}`);
    },
    keysOf: ({ keys }) => keys ?? [],
    weightOf: ({ weight }) => weight ?? 1,
    maxItems: 10,
    maxWeight: 10,
    maxInFlight: 1,
    maxWaiting: 100,
    overloaded: () => new Overloaded(),
    isItemFault: (error) => error instanceof Poison,
    ...options,
  });
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      const gate = gates.shift();
      if (gate !== undefined) quiet = 0;
      gate?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const endGroup = (): void => gates.shift()?.();
  /** Ends the group that has been under way for the longest time. */
  const endFirst = async (): Promise<void> => {
    endGroup();
    await turns();
  };
  return { ...made, groups, settle, endGroup, endFirst };
}

/** Resolves after more turns of the event loop than a group needs to begin. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves after everything that can continue now, and before the event loop turns. */
const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe('group committer', () => {
  it('sends the items that arrive during a group as the next group', async () => {
    const { submit, groups, settle, drain } = committer();
    const first = submit({ name: 'a' });
    await new Promise((resolve) => setImmediate(resolve));
    const rest = ['b', 'c', 'd'].map((name) => submit({ name }));
    await settle();
    expect(await Promise.all([first, ...rest])).toEqual(['done a', 'done b', 'done c', 'done d']);
    expect(groups).toEqual([['a'], ['b', 'c', 'd']]);
    await drain();
  });

  it('needs no turn of the event loop to send what waits while no group is in progress', async () => {
    const { submit, groups, endGroup, drain } = committer({ maxInFlight: 2 });
    let turns = 0;
    setImmediate(() => {
      turns += 1;
    });
    const all = ['a', 'b'].map((name) => submit({ name }));
    await tick();
    expect({ groups, turns }).toEqual({ groups: [['a', 'b']], turns: 0 });
    // While a group is in progress, further ones are collected for a turn.
    all.push(submit({ name: 'c' }));
    await tick();
    expect({ groups: groups.length, turns }).toEqual({ groups: 1, turns: 0 });
    endGroup();
    await all[0];
    await tick();
    expect({ groups, turns }).toEqual({ groups: [['a', 'b'], ['c']], turns: 0 });
    endGroup();
    expect(await Promise.all(all)).toEqual(['done a', 'done b', 'done c']);
    await drain();
  });

  it('never sends one key twice in a group, and keeps the order of items with the same key', async () => {
    const { submit, groups, settle } = committer();
    const all = [
      submit({ name: 'a', keys: ['k'] }),
      submit({ name: 'b', keys: ['k', 'm'] }),
      submit({ name: 'c', keys: ['m'] }),
      submit({ name: 'd' }),
    ];
    await settle();
    await Promise.all(all);
    expect(groups).toEqual([['a', 'd'], ['b'], ['c']]);
  });

  it('fails only the item that caused a failure', async () => {
    const { submit, groups, settle } = committer();
    const all = ['a', 'poison', 'b'].map((name) => submit({ name }));
    const settled = Promise.allSettled(all);
    await settle();
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(groups).toEqual([['a', 'poison', 'b'], ['a'], ['poison'], ['b']]);
  });

  it('does not resend items that may have been stored', async () => {
    const { submit, groups, settle } = committer({ isItemFault: () => false });
    const settled = Promise.allSettled(['a', 'poison', 'b'].map((name) => submit({ name })));
    await settle();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(groups).toHaveLength(1);
  });

  it('limits groups by count and weight, and the number of waiting items', async () => {
    const { submit, groups, settle } = committer({ maxItems: 3, maxWeight: 5, maxWaiting: 6 });
    const items = [
      { name: 'a', weight: 50 },
      { name: 'b', weight: 3 },
      { name: 'c', weight: 3 },
      { name: 'd' },
      { name: 'e' },
      { name: 'f' },
    ];
    const all = items.map((item) => submit(item));
    await expect(submit({ name: 'g' })).rejects.toBeInstanceOf(Overloaded);
    await settle();
    await Promise.all(all);
    expect(groups).toEqual([['a'], ['b'], ['c', 'd', 'e'], ['f']]);
  });

  it('sends a slow item alone, and one at a time, and lets others pass', async () => {
    const { submit, groups, settle, endFirst } = committer({
      maxInFlight: 2,
      isSlow: ({ weight }) => (weight ?? 1) > 3,
    });
    const names = ['a', 'slow 1', 'b', 'slow 2', 'c'];
    const all = names.map((name) => submit({ name, weight: name.startsWith('slow') ? 4 : 1 }));
    await turns();
    // The first group and the first slow item are under way; nothing of the second is.
    expect(groups).toEqual([['a', 'b', 'c'], ['slow 1']]);
    const d = submit({ name: 'd' });
    await endFirst();
    expect(groups.slice(2)).toEqual([['d']]);
    await settle();
    await Promise.all([...all, d]);
    expect(groups).toEqual([['a', 'b', 'c'], ['slow 1'], ['d'], ['slow 2']]);
  });
});
