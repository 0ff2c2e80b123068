/** How a group committer gathers, and what it may retry. */
export interface GroupCommitterOptions<Item, Result> {
  /**
   * Sends a group as one unit that succeeds or fails whole.
   * @returns one result for each item, in their order
   */
  send(items: readonly Item[]): Promise<readonly Result[]>;
  /** Keys of an item that must not be twice in one group: the second item waits for the next group. */
  keysOf(item: Item): readonly string[];
  /** What an item counts for against `maxWeight`, e.g. rows or bytes. */
  weightOf(item: Item): number;
  /** Most items of a group. */
  readonly maxItems: number;
  /** Most weight of a group; a single item may exceed it and then goes alone. */
  readonly maxWeight: number;
  /** Groups that may be under way at once. */
  readonly maxInFlight: number;
  /** Items that may wait; one more is refused with what `overloaded` makes. */
  readonly maxWaiting: number;
  overloaded(): Error;
  /** Whether one item may have caused this failure, and nothing of its group was kept: then each is sent alone. */
  isItemFault(error: unknown): boolean;
}

export interface GroupCommitter<Item, Result> {
  /** @throws what `send` throws for this item, or `overloaded()` */
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is under way. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers items while a group is under way and sends them together: as soon as a place is free, on the next turn of the event loop. It never
 * waits for more items to come.
 */
export function createGroupCommitter<Item, Result>(
  options: GroupCommitterOptions<Item, Result>,
): GroupCommitter<Item, Result> {
  type Entry = Waiting<Item, Result>;
  let waiting: Entry[] = [];
  let inFlight = 0;
  let scheduled = false;
  let idle: (() => void)[] = [];

  const schedule = (): void => {
    if (scheduled || waiting.length === 0 || inFlight >= options.maxInFlight) return;
    scheduled = true;
    setImmediate(flush);
  };
  const flush = (): void => {
    scheduled = false;
    const { group, rest } = takeGroup(waiting, options);
    waiting = rest;
    inFlight += 1;
    void commit(group, options).finally(() => {
      inFlight -= 1;
      schedule();
      if (inFlight === 0 && waiting.length === 0) {
        for (const resolve of idle) resolve();
        idle = [];
      }
    });
    schedule();
  };

  return {
    submit: (item) =>
      new Promise<Result>((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) {
          reject(options.overloaded());
          return;
        }
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    drain: () =>
      inFlight === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            idle.push(resolve);
          }),
  };
}

/** The first items that fit together, in order of arrival, and those that stay. */
function takeGroup<Item, Result>(
  waiting: Waiting<Item, Result>[],
  options: GroupCommitterOptions<Item, Result>,
): { group: Waiting<Item, Result>[]; rest: Waiting<Item, Result>[] } {
  const group: Waiting<Item, Result>[] = [];
  const rest: Waiting<Item, Result>[] = [];
  const keys = new Set<string>();
  let weight = 0;
  for (const [index, entry] of waiting.entries()) {
    const ownKeys = options.keysOf(entry.item);
    const ownWeight = options.weightOf(entry.item);
    const isFull = group.length >= options.maxItems || (group.length > 0 && weight + ownWeight > options.maxWeight);
    if (isFull) return { group, rest: rest.concat(waiting.slice(index)) };
    const isTwin = ownKeys.some((key) => keys.has(key));
    // The keys of one that waits count too: a third with another of its keys must not overtake it.
    for (const key of ownKeys) keys.add(key);
    if (isTwin) {
      rest.push(entry);
      continue;
    }
    group.push(entry);
    weight += ownWeight;
  }
  return { group, rest };
}

async function commit<Item, Result>(
  group: readonly Waiting<Item, Result>[],
  options: GroupCommitterOptions<Item, Result>,
): Promise<void> {
  try {
    const results = await options.send(group.map((entry) => entry.item));
    if (results.length !== group.length) throw new Error(`${results.length} results for ${group.length} items`);
    group.forEach((entry, index) => {
      const result = results[index];
      if (result !== undefined) entry.resolve(result);
      else entry.reject(new Error('an item got no result'));
    });
  } catch (error) {
    if (group.length > 1 && options.isItemFault(error)) {
      await commitOneByOne(group, options);
    } else {
      for (const entry of group) entry.reject(error);
    }
  }
}

/** A failure that is no item's fault ends it: those behind would only meet it too. */
async function commitOneByOne<Item, Result>(
  group: readonly Waiting<Item, Result>[],
  options: GroupCommitterOptions<Item, Result>,
): Promise<void> {
  const broken: unknown[] = [];
  for (const { item, resolve, reject } of group) {
    if (broken.length > 0) {
      reject(broken[0]);
      continue;
    }
    const reported = (error: unknown): void => {
      if (!options.isItemFault(error)) broken.push(error);
      reject(error);
    };
    await commit([{ item, resolve, reject: reported }], options);
  }
}
