/** Limits and callbacks of a group committer. */
export interface GroupCommitterOptions<Item, Result> {
  /**
   * Sends a group as one unit that succeeds or fails as a whole.
   * @returns one result for each item, in order
   */
  send(items: readonly Item[]): Promise<readonly Result[]>;
  /**
   * Returns the keys that must be unique within a group. A second item with the same key waits for
   * the next group.
   */
  keysOf(item: Item): readonly string[];
  /** Returns the weight of an item against `maxWeight`, for example rows or bytes. */
  weightOf(item: Item): number;
  /**
   * Returns whether a group with this item takes so long that others should not wait for it. Such an
   * item is sent alone, and one at a time. Without the function, no item is.
   */
  readonly isSlow?: (item: Item) => boolean;
  /** Maximum number of items in a group. */
  readonly maxItems: number;
  /** Maximum weight of a group. A single item may exceed it; it is then sent alone. */
  readonly maxWeight: number;
  /** Maximum number of groups in progress. */
  readonly maxInFlight: number;
  /** Maximum number of waiting items. The next item is refused with the error of `overloaded`. */
  readonly maxWaiting: number;
  overloaded(): Error;
  /**
   * Returns whether one item may have caused this failure and nothing of its group was stored. Then
   * each item is sent alone.
   */
  isItemFault(error: unknown): boolean;
}

export interface GroupCommitter<Item, Result> {
  /** @throws the error of `send` for this item, or `overloaded()` */
  submit(item: Item): Promise<Result>;
  /** Resolves when no item waits and no group is in progress. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates a committer that collects items while a group is in progress. It sends them together on the next turn of the
 * event loop after a slot becomes free. If no group is in progress, it sends immediately, because while more than a
 * thousand sockets are ready, Node reads from them for seconds before the loop turns. It never waits for more items.
 */
export function createGroupCommitter<Item, Result>(
  options: GroupCommitterOptions<Item, Result>,
): GroupCommitter<Item, Result> {
  type Entry = Waiting<Item, Result>;
  let waiting: Entry[] = [];
  let inFlight = 0;
  let isSlowInFlight = false;
  let next: 'none' | 'on the next turn' | 'at once' = 'none';
  let idle: (() => void)[] = [];

  const schedule = (): void => {
    if (waiting.length === 0 || inFlight >= options.maxInFlight) return;
    if (inFlight === 0 && next !== 'at once') {
      next = 'at once';
      // Runs after everything that can continue now, so that items that were unblocked together are sent together.
      process.nextTick(flush);
    } else if (next === 'none') {
      next = 'on the next turn';
      setImmediate(flush);
    }
  };
  const flush = (): void => {
    next = 'none';
    if (inFlight >= options.maxInFlight) return;
    const { group, rest, isSlow } = takeGroup(waiting, options, isSlowInFlight);
    waiting = rest;
    if (group.length === 0) return;
    isSlowInFlight ||= isSlow;
    inFlight += 1;
    void commit(group, options).finally(() => {
      inFlight -= 1;
      if (isSlow) isSlowInFlight = false;
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

/**
 * Takes the first items that form a valid group, in order of arrival, and returns the rest. The group
 * is empty if all of them wait for a slow one.
 */
function takeGroup<Item, Result>(
  waiting: Waiting<Item, Result>[],
  options: GroupCommitterOptions<Item, Result>,
  isSlowInFlight: boolean,
): { group: Waiting<Item, Result>[]; rest: Waiting<Item, Result>[]; isSlow: boolean } {
  const group: Waiting<Item, Result>[] = [];
  const rest: Waiting<Item, Result>[] = [];
  const keys = new Set<string>();
  let weight = 0;
  for (const [index, entry] of waiting.entries()) {
    const ownKeys = options.keysOf(entry.item);
    const ownWeight = options.weightOf(entry.item);
    const isFull = group.length >= options.maxItems || (group.length > 0 && weight + ownWeight > options.maxWeight);
    if (isFull) return { group, rest: rest.concat(waiting.slice(index)), isSlow: false };
    const isTwin = ownKeys.some((key) => keys.has(key));
    // A third item that shares a key with this waiting item must not overtake it.
    for (const key of ownKeys) keys.add(key);
    const isSlow = options.isSlow?.(entry.item) === true;
    if (isTwin || (isSlow && (isSlowInFlight || group.length > 0))) {
      rest.push(entry);
      continue;
    }
    group.push(entry);
    if (isSlow) return { group, rest: rest.concat(waiting.slice(index + 1)), isSlow };
    weight += ownWeight;
  }
  return { group, rest, isSlow: false };
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

/**
 * Sends each item alone. A failure that no item caused ends the loop, because the remaining items
 * would fail too.
 */
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
