import { SingleBar } from 'cli-progress';
import type { CliContext } from './context.js';

export interface ProgressBar {
  /** @param shown further parts of the format, by name */
  update(done: number, total: number, shown?: Readonly<Record<string, string>>): void;
  stop(): void;
}

/**
 * Creates a progress bar, on a terminal only. It appears when there is something to count, because an empty bar would
 * look full.
 */
export function progressBar({ stderr }: Pick<CliContext, 'stderr'>, format: string): ProgressBar {
  const bar = new SingleBar({ format, stream: stderr, hideCursor: true });
  let isShown = false;
  return {
    update: (done, total, shown = {}) => {
      const most = Math.max(done, total);
      if (most === 0) return;
      if (isShown) {
        bar.setTotal(most);
        bar.update(done, shown);
      } else bar.start(most, done, shown);
      isShown = true;
    },
    stop: () => {
      if (isShown) bar.stop();
    },
  };
}

/** Shows a bar until the work ends. */
export async function withBar<T>(
  context: CliContext,
  format: string,
  work: (update: ProgressBar['update']) => Promise<T>,
): Promise<T> {
  const bar = progressBar(context, format);
  try {
    return await work(bar.update);
  } finally {
    bar.stop();
  }
}
