import { type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client';
import { DeadlinePassed } from '../../../platform/background/waiting.js';

type Reading = ReturnType<EventStoreDBClient['readStream']> | ReturnType<EventStoreDBClient['readAll']>;

/**
 * Gathers what a read gives, until `take` says that it is enough. A read that gives nothing for `deadlineMs` is cancelled: the client
 * would wait for as long as the connection's keep-alive does.
 * @param take gets each event of the read; returns false to end it
 * @throws whatever ends the read early, `DeadlinePassed` included; a stream that does not exist is one without events
 */
export async function gather(reading: Reading, deadlineMs: number, take: (event: unknown) => boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const arm = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => reject(new DeadlinePassed(deadlineMs)), deadlineMs);
      };
      arm();
      // Stays for good: an error after the end has nobody else to go to, and would end the process.
      reading.on('error', reject);
      reading.on('end', resolve);
      reading.on('data', (resolved: { event?: unknown }) => {
        arm();
        if (resolved.event === undefined || take(resolved.event)) return;
        reading.removeAllListeners('data');
        resolve();
      });
    });
  } catch (error) {
    if (!(error instanceof StreamNotFoundError)) throw error;
  } finally {
    clearTimeout(timer);
    // Its stream may never come to be, as with a server that is down; nobody waits for it.
    reading.cancel().catch(() => undefined);
  }
}

/** Room for bytes in a page. The event that fills it is still in it: the client cannot give it back. */
export class Room {
  constructor(private bytes: number) {}

  isLeftAfter(event: { readonly data: Uint8Array; readonly metadata: Uint8Array }): boolean {
    this.bytes -= event.data.byteLength + event.metadata.byteLength;
    return this.bytes > 0;
  }
}
