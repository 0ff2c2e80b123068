/**
 * Runs `work` with a signal that is aborted as soon as one of `sources` is.
 *
 * It takes the place of `AbortSignal.any`: on Node 20 a source keeps every signal that was derived
 * from it for as long as the source lives, so a loop that derives one each turn from the signal of
 * the process leaks until the process fails. Here nothing stays with the sources when `work` ends.
 * @param sources signals to follow, e.g. that of the process and that of a lease
 * @returns the outcome of `work`
 * @throws what `work` throws
 */
export async function withAnySignal<T>(
  sources: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
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
