/**
 * Runs `work` for each item, at most `limit` at the same time.
 * @returns one outcome for each item, in order. Never rejects.
 */
export async function settleAll<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = [];
  const remaining = items.entries();
  const lane = async (): Promise<void> => {
    for (const [place, item] of remaining) [outcomes[place]] = await Promise.allSettled([work(item)]);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return outcomes;
}
