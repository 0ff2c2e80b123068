import { setMaxListeners } from 'node:events';

/**
 * Creates a controller whose signal many parts of the service follow. Node warns of a leak from the eleventh listener
 * on, but here the number of parts and of sites in progress limits them.
 */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * Returns a promise that resolves when a signal is aborted.
 * @returns the promise, and `release`, which removes the listener; the caller calls it when it no longer waits
 */
export function abortOf(signal: AbortSignal): { readonly promise: Promise<'aborted'>; release(): void } {
  let onAbort = (): void => undefined;
  const promise = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { promise, release: () => signal.removeEventListener('abort', onAbort) };
}

/**
 * Runs `work` with a signal that is aborted as soon as one of `sources` is.
 *
 * It replaces `AbortSignal.any`. On Node 20 a source retains every derived signal for its own
 * lifetime. A loop that derives one per turn from the signal of the process would leak until the
 * process fails. This function leaves no listener on the sources when `work` ends.
 * @param sources signals to follow, e.g. that of the process and that of a lease
 * @returns the result of `work`
 * @throws any error of `work`
 */
export async function withAnySignal<T>(
  sources: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = sharedController();
  const aborts = sources.map((source) => ({ source, abort: () => controller.abort(source.reason) }));
  for (const { source, abort } of aborts) {
    if (source.aborted) abort();
    else source.addEventListener('abort', abort, { once: true });
  }
  try {
    return await work(controller.signal);
  } finally {
    for (const { source, abort } of aborts) source.removeEventListener('abort', abort);
  }
}

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
