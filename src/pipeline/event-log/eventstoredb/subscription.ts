import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventStoreDBClient, START, STREAM_NAME } from '@eventstore/db-client';
import { BackOff, pause } from '../../../platform/background/waiting.js';
import { type ForeignCount, ownEvents } from '../own-events.js';
import type { LoggedEvent, LogPage, Position } from '../port.js';
import { parsePosition } from './positions.js';
import { isSystemEvent, toLoggedEvent } from './recorded-events.js';

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
