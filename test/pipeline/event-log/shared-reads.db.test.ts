import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EventLog, type LoggedEvent, NO_STREAM, type Position } from '../../../src/pipeline/event-log/port.js';
import { shareReads } from '../../../src/pipeline/event-log/shared-reads.js';
import { until } from '../../support/wait.js';
import { faultyLog } from '../relay/faulty-log.js';
import { describeEventLogContract } from './contract.js';
import { newEvents, newStream, readToEnd } from './events.js';
import { type PostgresFixture, startPostgresFixture } from './postgres-fixture.js';

describeEventLogContract('postgres, with shared reads,', async () => {
  const fixture = await startPostgresFixture();
  return { ...fixture, open: (options) => shareReads(fixture.open(options)) };
});

/** Counts the subscriptions and reads of the whole log. */
function counted(eventLog: EventLog) {
  const counts = { subscriptions: 0, reads: 0 };
  const log: EventLog = {
    ...faultyLog(eventLog, () => null),
    subscribe: (after, signal) => {
      counts.subscriptions += 1;
      return eventLog.subscribe(after, signal);
    },
    readAll: (after, limit) => {
      counts.reads += 1;
      return eventLog.readAll(after, limit);
    },
  };
  return { log, counts };
}

/** Collects the events of a subscription until it is stopped. @param gate holds it after its first page */
function collect(log: EventLog, after: Position | null, gate?: Promise<void>) {
  const stop = new AbortController();
  const events: LoggedEvent[] = [];
  const ended = (async () => {
    for await (const page of log.subscribe(after, stop.signal)) {
      events.push(...page.events);
      await gate;
    }
  })();
  return {
    events,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

function newGate(): { readonly gate: Promise<void>; readonly goOn: () => void } {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  return { gate, goOn };
}

const idsOf = (events: readonly LoggedEvent[]) => events.map(({ id }) => id);

describe('shared reads', () => {
  let fixture: PostgresFixture;
  let end: Position | null = null;
  beforeAll(async () => {
    fixture = await startPostgresFixture();
  });
  afterAll(() => fixture?.close());

  /** Appends events and returns the position before them, and their ids. */
  async function append(log: EventLog, count: number): Promise<{ before: Position | null; ids: string[] }> {
    const before = end;
    const stream = newStream();
    const events = newEvents(count);
    for (let first = 0; first < count; first += 1_000) {
      await log.append(stream, first === 0 ? NO_STREAM : first - 1, events.slice(first, first + 1_000));
    }
    end = (await readToEnd(log, before, 1_000)).at(-1)?.position ?? before;
    return { before, ids: events.map(({ id }) => id) };
  }

  it('give subscribers at one place the same events, from one subscription', async () => {
    const { log, counts } = counted(fixture.open());
    const { before, ids } = await append(fixture.open(), 1_200);
    const shared = shareReads(log);
    const readers = Array.from({ length: 3 }, () => collect(shared, before));
    await until(async () => readers.every(({ events }) => events.length >= 1_200));
    const more = await append(fixture.open(), 300);
    await until(async () => readers.every(({ events }) => events.length >= 1_500));
    for (const { events } of readers) expect(idsOf(events)).toEqual([...ids, ...more.ids]);
    expect(new Set(readers.map(({ events }) => events[700])).size).toBe(1);
    for (const reader of readers) await reader.stop();
    expect(counts).toEqual({ subscriptions: 1, reads: 0 });
  });

  it('end the wait of one who reads at times of his own with the next page, and with the last subscription', async () => {
    const shared = shareReads(fixture.open());
    const { signal } = new AbortController();
    const never = { followed: 3_600_000, alone: 3_600_000 };
    const { before } = await append(fixture.open(), 1);
    const reader = collect(shared, before);
    await until(() => reader.events.length > 0);
    const { length } = reader.events;
    const waiting = shared.wait(shared.ticket, never, signal);
    await append(fixture.open(), 1);
    await waiting;
    await until(() => reader.events.length > length);
    const { ticket } = shared;
    const [last] = [shared.wait(ticket, never, signal), await reader.stop()];
    await last;
    await shared.wait(ticket, never, signal);
    await shared.wait(shared.ticket, { ...never, alone: 0 }, signal);
  });

  it('serve a reader of the whole log from memory, in pages of any size', async () => {
    const { log, counts } = counted(fixture.open());
    const { before, ids } = await append(fixture.open(), 1_100);
    const shared = shareReads(log);
    const reader = collect(shared, before);
    await until(async () => reader.events.length >= 1_100);
    expect(idsOf(await readToEnd(shared, before, 70))).toEqual(ids);
    expect(counts.reads).toBe(1);
    await reader.stop();
  });

  it('let a slow subscriber fall behind and catch up, and hold up nobody', async () => {
    const { log, counts } = counted(fixture.open());
    const { before, ids } = await append(fixture.open(), 8_000);
    const shared = shareReads(log);
    const { gate, goOn } = newGate();
    const slow = collect(shared, before, gate);
    await until(async () => slow.events.length > 0);
    const fast = collect(shared, before);
    await until(async () => fast.events.length >= 8_000);
    expect(slow.events.length).toBeLessThan(8_000);
    goOn();
    await until(async () => slow.events.length >= 8_000);
    expect(idsOf(fast.events)).toEqual(ids);
    expect(idsOf(slow.events)).toEqual(ids);
    // It read for itself what was no longer kept.
    expect(counts.reads).toBeGreaterThan(0);
    const more = await append(fixture.open(), 10);
    await until(async () => slow.events.length >= 8_010);
    expect(idsOf(slow.events).slice(-10)).toEqual(more.ids);
    await Promise.all([slow.stop(), fast.stop()]);
  });

  it('let a subscriber ahead of the others read for itself until they reach it', async () => {
    const { log, counts } = counted(fixture.open());
    const { before, ids } = await append(fixture.open(), 3_000);
    const shared = shareReads(log);
    const { gate, goOn } = newGate();
    const behind = collect(shared, before, gate);
    await until(async () => behind.events.length > 0);
    const ahead = collect(shared, end);
    const first = await append(fixture.open(), 5);
    await until(async () => ahead.events.length >= 5);
    goOn();
    await until(async () => behind.events.length >= 3_005);
    const second = await append(fixture.open(), 5);
    await until(async () => ahead.events.length >= 10 && behind.events.length >= 3_010);
    expect(idsOf(ahead.events)).toEqual([...first.ids, ...second.ids]);
    expect(idsOf(behind.events)).toEqual([...ids, ...first.ids, ...second.ids]);
    expect(counts.subscriptions).toBe(2);
    await Promise.all([ahead.stop(), behind.stop()]);
  });

  it('end their subscription when the last subscriber leaves between two pages', async () => {
    const inner = fixture.open();
    let isEnded = false;
    const log: EventLog = {
      ...faultyLog(inner, () => null),
      async *subscribe(after, signal) {
        try {
          yield* inner.subscribe(after, signal);
        } finally {
          isEnded = true;
        }
      },
    };
    const { before } = await append(inner, 3);
    for await (const page of shareReads(log).subscribe(before, new AbortController().signal)) {
      expect(page.events.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => isEnded).toBe(true);
  });

  it('go on for the others when one leaves in the middle of a page', async () => {
    const { log } = counted(fixture.open());
    const shared = shareReads(log);
    const [leaving, staying] = [collect(shared, end), collect(shared, end)];
    await leaving.stop();
    const { ids } = await append(fixture.open(), 3);
    await until(async () => staying.events.length >= 3);
    const joining = collect(shared, null);
    await until(async () => idsOf(joining.events).at(-1) === ids.at(-1));
    expect(idsOf(staying.events)).toEqual(ids);
    expect(new Set(idsOf(joining.events)).size).toBe(joining.events.length);
    await Promise.all([staying.stop(), joining.stop()]);
  });
});
