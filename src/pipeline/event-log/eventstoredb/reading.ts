import type { Readable } from 'node:stream';
import { StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client';
import { DeadlinePassed } from '../../../platform/background/waiting.js';
import { guarded } from '../../../platform/net/guarded.js';

/** A read of the client. */
type Reading = Pick<Readable, 'on' | 'removeAllListeners'> & { cancel(): Promise<void> };

/**
 * Collects the events of a read until `take` returns false. A read without an event for
 * `deadlineMs` milliseconds is cancelled, because the client would wait for the keep-alive of the
 * connection.
 * @param take receives each event of the read; returns false to end it
 * @param onCaught receives an exception of `take`, which ends the read: another program may have written the event
 * @throws the error that ended the read early, or `DeadlinePassed`; a stream that does not exist or
 *   was deleted counts as empty
 */
export async function gather(
  reading: Reading,
  deadlineMs: number,
  take: (event: unknown) => boolean,
  onCaught: (error: unknown) => void,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const arm = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => reject(new DeadlinePassed(deadlineMs)), deadlineMs);
      };
      arm();
      // Remains registered: an error after the end would have no other handler and would end the
      // process.
      reading.on('error', reject);
      reading.on('end', resolve);
      const receive = (resolved: { event?: unknown }): void => {
        arm();
        if (resolved.event === undefined || take(resolved.event)) return;
        reading.removeAllListeners('data');
        resolve();
      };
      const end = (error: Error): void => {
        reading.removeAllListeners('data');
        reject(error);
      };
      reading.on('data', guarded(receive, { end, onCaught }));
    });
  } catch (error) {
    if (!(error instanceof StreamNotFoundError || error instanceof StreamDeletedError)) throw error;
  } finally {
    clearTimeout(timer);
    // The stream may never open, for example while the server is down, so the result is not
    // awaited.
    reading.cancel().catch(() => undefined);
  }
}

/**
 * Remaining bytes of a page. The event that exhausts them still belongs to the page, because the
 * client cannot return it.
 */
export class Room {
  constructor(private bytes: number) {}

  isLeftAfter(event: { readonly data: Uint8Array; readonly metadata: Uint8Array }): boolean {
    this.bytes -= event.data.byteLength + event.metadata.byteLength;
    return this.bytes > 0;
  }
}
