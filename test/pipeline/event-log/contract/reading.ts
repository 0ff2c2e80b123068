import { describe, expect, it } from 'vitest';
import { RevisionConflict } from '../../../../src/pipeline/event-log/errors.js';
import { type EventLog, type LoggedEvent, NO_STREAM, type Position } from '../../../../src/pipeline/event-log/port.js';
import { currentEnd, newEvents, newStream, plain, readToEnd } from '../events.js';
import type { EventLogFixture } from '../fixture.js';

const place = (event: LoggedEvent): string => `${event.position} ${event.stream} ${event.revision} ${event.id}`;

/**
 * Appends `count` events in runs of varying length and size. On a shared stream, a lost race is
 * retried.
 */
async function write(eventLog: EventLog, stream: string, count: number, seed: number): Promise<void> {
  let written = 0;
  let expected = await eventLog.lastRevision(stream);
  while (written < count) {
    const events = newEvents(
      Math.min(1 + ((written + seed) % 4), count - written),
      10 + ((written * seed) % 7) * 3_000,
    );
    try {
      expected = (await eventLog.append(stream, expected, events)).lastRevision;
      written += events.length;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      expected = error.actualRevision;
    }
  }
}

function expectGlobalOrder(events: readonly LoggedEvent[]): void {
  const positions = events.map((event) => event.position);
  expect(positions).toEqual([...new Set(positions)].sort());
  const last = new Map<string, number>();
  for (const { stream, revision } of events) {
    const before = last.get(stream);
    if (before !== undefined) expect(revision).toBe(before + 1);
    last.set(stream, revision);
  }
}

export function describeReading(fixture: () => EventLogFixture): void {
  describe('reading a stream', () => {
    it.each([0, -1])('returns no events for a limit of %i', async (limit) => {
      const log = fixture().open();
      const stream = newStream();
      expect(await log.readStream(stream, 0, limit)).toEqual([]);
      await log.append(stream, NO_STREAM, newEvents(1));
      expect(await log.readStream(stream, 0, limit)).toEqual([]);
      expect(await log.readStream(stream, 1, limit)).toEqual([]);
    });
  });

  describe('reading single events', () => {
    it('returns the events of several streams in the order of the places', async () => {
      const log = fixture().open();
      const [one, other] = [newStream(), newStream()];
      const [ofOne, ofOther] = [newEvents(40, 3_000), newEvents(3)];
      await log.append(one, NO_STREAM, ofOne);
      await log.append(other, NO_STREAM, ofOther);
      const places = [
        { stream: other, revision: 2 },
        ...ofOne.map((_, revision) => ({ stream: one, revision: 39 - revision })),
        { stream: other, revision: 0 },
        { stream: other, revision: 2 },
      ];
      const found = await log.readEvents(places);
      const wanted = [ofOther[2], ...ofOne.toReversed(), ofOther[0], ofOther[2]];
      expect(found.map((event) => event && plain(event))).toEqual(wanted.map((event) => event && plain(event)));
      expect(found.map((event) => event && { stream: event.stream, revision: event.revision })).toEqual(places);
    });

    it('returns null for each place without an event', async () => {
      const log = fixture().open();
      const stream = newStream();
      const [event] = newEvents(1);
      await log.append(stream, NO_STREAM, event === undefined ? [] : [event]);
      const found = await log.readEvents([
        { stream: newStream(), revision: 0 },
        { stream, revision: 1 },
        { stream, revision: 0 },
        { stream, revision: Number.MAX_SAFE_INTEGER },
      ]);
      expect(found.map((one) => one?.id ?? null)).toEqual([null, null, event?.id, null]);
      expect(await log.readEvents([])).toEqual([]);
    });
  });

  describe('reading the whole log', () => {
    it('returns the events of concurrent writers in one order, each stream by its revisions', async () => {
      const reader = fixture().open();
      const before = await currentEnd(fixture(), reader);
      const shared = newStream();
      const own = Array.from({ length: 6 }, () => newStream());
      const logs = own.map(() => fixture().open());
      await Promise.all(
        own.flatMap((stream, index) => {
          const log = logs[index] ?? reader;
          return [write(log, stream, 40, index + 1), write(log, shared, 10, index + 1)];
        }),
      );
      const mine = (await readToEnd(reader, before)).filter(
        (event) => event.stream === shared || own.includes(event.stream),
      );
      expectGlobalOrder(mine);
      expect(mine).toHaveLength(6 * 50);
      expect(mine.filter((event) => event.stream === shared).map((event) => event.revision)).toEqual([
        ...Array(60).keys(),
      ]);
    });

    it('misses no event for a reader that polls while many writers commit', async () => {
      const reader = fixture().open();
      const before = await currentEnd(fixture(), reader);
      const streams = Array.from({ length: 8 }, () => newStream());
      const logs = [fixture().open(), fixture().open(), fixture().open()];
      let writing = true;
      const writers = Promise.all(streams.map((stream, n) => write(logs[n % 3] ?? reader, stream, 60, n + 1))).finally(
        () => {
          writing = false;
        },
      );
      const polled: LoggedEvent[] = [];
      let position: Position | null = before;
      for (let more = true; more; ) {
        const last = !writing;
        const page = await reader.readAll(position, 7);
        polled.push(...page.events);
        position = page.next;
        more = !(last && page.atEnd);
      }
      await writers;
      const reread = await readToEnd(reader, before);
      expect(polled.map(place)).toEqual(reread.map(place));
      const mine = polled.filter((event) => streams.includes(event.stream));
      expect(mine).toHaveLength(8 * 60);
      expectGlobalOrder(mine);
    });

    it('starts after any position', async () => {
      const log = fixture().open();
      const before = await currentEnd(fixture(), log);
      const streams = [newStream(), newStream()];
      for (let round = 0; round < 5; round += 1) {
        for (const stream of streams) await log.append(stream, round * 2 - 1, newEvents(2));
      }
      const all = await readToEnd(log, before);
      expect(all.filter((event) => streams.includes(event.stream))).toHaveLength(20);
      for (const [index, event] of all.entries()) {
        const behind = await readToEnd(log, event.position, 3);
        expect(behind.map(place)).toEqual(all.slice(index + 1).map(place));
      }
      const fromStart = await readToEnd(log, null);
      expect(fromStart.slice(-all.length).map(place)).toEqual(all.map(place));
      expectGlobalOrder(fromStart);
    });

    it('returns no system events, and reports the end of the log', async () => {
      const log = fixture().open();
      const stream = newStream();
      await log.append(stream, NO_STREAM, newEvents(3));
      const all = await readToEnd(log, null);
      expect(all.filter((event) => event.stream.startsWith('$') || event.type.startsWith('$'))).toEqual([]);
      const end = all.at(-1)?.position ?? null;
      const beyond = await log.readAll(end, 10);
      expect(beyond.events).toEqual([]);
      expect(beyond.atEnd).toBe(true);
      expect((await log.readAll(null, 1)).atEnd).toBe(false);
    });

    it('refuses an invalid position', async () => {
      const log = fixture().open();
      await expect(log.readAll('not a position', 1)).rejects.toBeInstanceOf(TypeError);
    });
  });
}
