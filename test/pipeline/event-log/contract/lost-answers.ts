import { describe, expect, it } from 'vitest';
import { appendExactlyOnce } from '../../../../src/pipeline/event-log/append-exactly-once.js';
import {
  AppendOutcomeUnknown,
  EventLogUnavailable,
  LogBehind,
  LogDiverged,
} from '../../../../src/pipeline/event-log/errors.js';
import { type EventLog, type NewEvent, NO_STREAM } from '../../../../src/pipeline/event-log/port.js';
import type { FaultyProxy } from '../../../support/faulty-proxy.js';
import { until } from '../../../support/wait.js';
import { appendPersistently, newEvents, newStream, plain, readWholeStream } from '../events.js';
import type { EventLogFixture } from '../fixture.js';

/** Appends events so that the server persists them and its response never arrives. */
async function loseTheAnswer(
  proxy: FaultyProxy,
  eventLog: EventLog,
  direct: EventLog,
  append: { stream: string; expected: number; events: NewEvent[] },
): Promise<unknown> {
  await eventLog.ping();
  proxy.swallowAnswers();
  const outcome = eventLog.append(append.stream, append.expected, append.events).catch((error: unknown) => error);
  await until(async () => (await direct.lastRevision(append.stream)) === append.expected + append.events.length);
  proxy.restore();
  return outcome;
}

export function describeLostAnswers(fixture: () => EventLogFixture): void {
  describe('a lost response', () => {
    it('to a persisted append is an unknown outcome, and the retry appends nothing twice', async () => {
      const proxy = await fixture().startProxy();
      const log = fixture().open({ through: proxy });
      const direct = fixture().open();
      const stream = newStream();
      const [first, events] = [newEvents(1), newEvents(3)];
      // EventStoreDB is asked what a new stream hides before anything is sent.
      await log.append(stream, NO_STREAM, first);
      const outcome = await loseTheAnswer(proxy, log, direct, { stream, expected: 0, events });
      expect(outcome).toBeInstanceOf(AppendOutcomeUnknown);
      expect(await appendExactlyOnce(log, stream, 0, events)).toEqual({ firstRevision: 1, lastRevision: 3 });
      expect((await readWholeStream(direct, stream)).map(plain)).toEqual([...first, ...events].map(plain));
    });

    it('is resolved by a retry with more events than were persisted', async () => {
      const proxy = await fixture().startProxy();
      const log = fixture().open({ through: proxy });
      const direct = fixture().open();
      const stream = newStream();
      const events = newEvents(10);
      await log.append(stream, NO_STREAM, events.slice(0, 2));
      const lost = { stream, expected: 1, events: events.slice(2, 5) };
      expect(await loseTheAnswer(proxy, log, direct, lost)).toBeInstanceOf(AppendOutcomeUnknown);
      for (const options of [{}, { firstAttempt: true }]) {
        const range = await appendExactlyOnce(log, stream, 1, events.slice(2), options);
        expect(range).toEqual({ firstRevision: 2, lastRevision: 9 });
      }
      expect((await readWholeStream(direct, stream)).map(plain)).toEqual(events.map(plain));
    });

    it('is an unknown outcome at the deadline of the append, even if the connection stays open', async () => {
      const proxy = await fixture().startProxy();
      const log = fixture().open({ through: proxy, appendDeadlineMs: 1_500 });
      const direct = fixture().open();
      const stream = newStream();
      const [first, events] = [newEvents(1), newEvents(3)];
      await appendPersistently(log, stream, NO_STREAM, first);
      proxy.swallowAnswers();
      await expect(log.append(stream, 0, events)).rejects.toBeInstanceOf(AppendOutcomeUnknown);
      await until(async () => (await direct.lastRevision(stream)) === 3);
      proxy.restore();
      await appendPersistently(log, stream, 0, events);
      expect((await readWholeStream(direct, stream)).map(plain)).toEqual([...first, ...events].map(plain));
    });

    it('in the middle of a long run leaves every event in the log exactly once', async () => {
      const proxy = await fixture().startProxy();
      const log = fixture().open({ through: proxy });
      const direct = fixture().open();
      const stream = newStream();
      const events = newEvents(400, 20_000);
      let finished = false;
      const faults = (async () => {
        for (let cut = 1; cut <= 4; cut += 1) {
          await until(async () => finished || (await direct.lastRevision(stream)) >= cut * 70);
          proxy.cutConnections();
        }
      })();
      await appendPersistently(log, stream, NO_STREAM, events);
      finished = true;
      await faults;
      expect((await readWholeStream(direct, stream)).map((event) => event.id)).toEqual(events.map((event) => event.id));
    });
  });

  describe('an unreachable server', () => {
    it('fails an append as unavailable, not as unknown, until it is reachable again', async () => {
      const proxy = await fixture().startProxy();
      proxy.refuseConnections();
      const log = fixture().open({ through: proxy });
      const stream = newStream();
      await expect(log.ping()).rejects.toBeInstanceOf(EventLogUnavailable);
      await expect(log.append(stream, NO_STREAM, newEvents(1))).rejects.toBeInstanceOf(EventLogUnavailable);
      await expect(log.readStream(stream, 0, 1)).rejects.toBeInstanceOf(EventLogUnavailable);
      await expect(log.lastRevision(stream)).rejects.toBeInstanceOf(EventLogUnavailable);
      await expect(log.readAll(null, 1)).rejects.toBeInstanceOf(EventLogUnavailable);
      proxy.restore();
      await until(() =>
        log.ping().then(
          () => true,
          () => false,
        ),
      );
      expect(await log.append(stream, NO_STREAM, newEvents(1))).toEqual({ lastRevision: 0 });
    });
  });

  describe('appending exactly once', () => {
    it('refuses a log with another event, or other bytes, in the place of an appended one', async () => {
      const log = fixture().open();
      const stream = newStream();
      const events = newEvents(3);
      await log.append(stream, NO_STREAM, events);
      const other = [...events.slice(0, 2), ...newEvents(1)];
      await expect(appendExactlyOnce(log, stream, NO_STREAM, other)).rejects.toMatchObject({
        name: LogDiverged.name,
        stream,
        revision: 2,
      });
      const altered = events.map((event, n) => (n === 1 ? { ...event, data: Buffer.from('altered') } : event));
      await expect(appendExactlyOnce(log, stream, NO_STREAM, altered)).rejects.toMatchObject({
        name: LogDiverged.name,
        revision: 1,
      });
      expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.map(plain));
    });

    it('refuses a log that ends before the appended events', async () => {
      const log = fixture().open();
      const stream = newStream();
      await log.append(stream, NO_STREAM, newEvents(2));
      await expect(appendExactlyOnce(log, stream, 5, newEvents(1))).rejects.toMatchObject({
        name: LogBehind.name,
        knownRevision: 5,
        actualRevision: 1,
      });
    });
  });
}
