import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type EventStoreDBClient,
  START,
  STREAM_NAME,
  StreamDeletedError,
  StreamNotFoundError,
} from '@eventstore/db-client';
import { BackOff, DeadlinePassed, pause } from '../../../platform/background/waiting.js';
import { guarded } from '../../../platform/net/guarded.js';
import { type ForeignCount, ownEvents } from '../event-checks.js';
import type { LoggedEvent, LogPage, Position } from '../port.js';
import { isSystemEvent, parsePosition, toLoggedEvent } from './recorded-events.js';

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
export class PageBudget {
  constructor(private bytes: number) {}

  isLeftAfter(event: { readonly data: Uint8Array; readonly metadata: Uint8Array }): boolean {
    this.bytes -= event.data.byteLength + event.metadata.byteLength;
    return this.bytes > 0;
  }
}

export interface FollowOptions {
  readonly pageEvents: number;
  readonly pageBytes: number;
  readonly onInterruption: (error: unknown) => void;
  readonly isOwnStream: (stream: string) => boolean;
  readonly foreign: ForeignCount;
}

type Subscription = ReturnType<EventStoreDBClient['subscribeToAll']>;

/**
 * Follows `$all` without its system events. The client's subscriptions never reconnect, and the
 * server drops slow ones. After each end, a new subscription starts after the last page that was
 * yielded.
 */
export async function* follow(
  client: EventStoreDBClient,
  after: Position | null,
  signal: AbortSignal,
  options: FollowOptions,
): AsyncGenerator<LogPage, void, undefined> {
  const backOff = new BackOff();
  let position = after;
  while (!signal.aborted) {
    const subscription = client.subscribeToAll(
      {
        fromPosition: position === null ? START : parsePosition(position),
        filter: { filterOn: STREAM_NAME, regex: '^[^$]', checkpointInterval: 1_000 },
        requiresLeader: true,
      },
      { highWaterMark: options.pageEvents },
    );
    try {
      for await (const events of pages(subscription, signal, options)) {
        backOff.reset();
        const last = events.at(-1);
        if (last === undefined) continue;
        position = last.position;
        const page = ownEvents(
          { events, next: position, atEnd: subscription.readableLength === 0 },
          options.isOwnStream,
        );
        options.foreign.note(page.foreign);
        if (page.events.length > 0) yield page;
      }
    } catch (error) {
      options.onInterruption(error);
      await pause(backOff.next(), signal);
    } finally {
      subscription.unsubscribe().catch(() => undefined);
    }
  }
}

/**
 * Yields the events of one subscription, a page whenever events are available. Returns when
 * `signal` is aborted, throws when the subscription ends.
 */
async function* pages(
  subscription: Subscription,
  signal: AbortSignal,
  options: FollowOptions,
): AsyncGenerator<LoggedEvent[], void, undefined> {
  let failure: Error | null = null;
  let wake: () => void = () => undefined;
  const stir = (): void => wake();
  // Remains registered: an error after the end would have no other handler and would end the
  // process.
  subscription.on('error', (error) => {
    failure ??= error;
    wake();
  });
  subscription.on('end', () => {
    failure ??= new Error('the server ended the subscription');
    wake();
  });
  subscription.on('readable', stir);
  signal.addEventListener('abort', stir);
  try {
    while (!signal.aborted) {
      const stirred = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const events = takePage(subscription, options);
      if (events.length > 0) yield events;
      else if (failure !== null) throw failure;
      else {
        await stirred;
        // Events that arrived together are decoded in the same turn of the event loop. After that
        // turn the page contains all of them.
        await nextTurn();
      }
    }
  } finally {
    signal.removeEventListener('abort', stir);
  }
}

function takePage(subscription: Subscription, options: FollowOptions): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  let bytes = 0;
  while (events.length < options.pageEvents && bytes < options.pageBytes) {
    const resolved: { event?: unknown } | null = subscription.read();
    if (resolved === null) break;
    if (resolved.event === undefined || isSystemEvent(resolved.event)) continue;
    const event = toLoggedEvent(resolved.event);
    bytes += event.data.byteLength + event.metadata.byteLength;
    events.push(event);
  }
  return events;
}
