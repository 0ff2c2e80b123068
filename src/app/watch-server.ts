import type pg from 'pg';
import { pause } from '../platform/background/waiting.js';
import { type ConnectionOptions, connectClient } from '../platform/database/connection.js';

/** Longest time in which open connections may go on unnoticed to a server that the address has left. */
const EVERY_MS = 5_000;

/**
 * Connects anew every few seconds, and closes the connection before. Connections that stay open never tell
 * that the address leads to another server by now: that of a leader which was frozen and lives again accepts
 * consents that the new leader does not have. The binding of the options refuses the other server. The newest
 * connection stays open, so that a migration sees a process which does nothing at the time.
 * @param everyMs pause between two connections, in milliseconds
 * @returns a function that ends it
 */
export function watchServer(options: ConnectionOptions, everyMs = EVERY_MS): () => Promise<void> {
  const stop = new AbortController();
  const watching = watch(options, everyMs, stop.signal);
  return async () => {
    stop.abort();
    await watching;
  };
}

async function watch(options: ConnectionOptions, everyMs: number, signal: AbortSignal): Promise<void> {
  let open: pg.Client | null = null;
  // A server that vanished never confirms the end.
  const leave = (): void => void open?.end().catch(() => undefined);
  for (;;) {
    await pause(everyMs, signal);
    if (signal.aborted) return leave();
    try {
      const client = await connectClient(options);
      leave();
      open = client;
    } catch {
      // A server that cannot be reached is reported by those who need it, and a refusal by the binding.
    }
  }
}
