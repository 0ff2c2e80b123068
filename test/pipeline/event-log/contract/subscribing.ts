import { describe, expect, it } from 'vitest';
import { type EventLog, type LoggedEvent, NO_STREAM, type Position } from '../../../../src/pipeline/event-log/port.js';
import { until } from '../../../support/wait.js';
import { appendPersistently, currentEnd, newEvents, newStream, plain, readToEnd } from '../events.js';
import type { EventLogFixture, RestartableFixture } from '../fixture.js';

/** A subscription that collects its pages. After `hold` it takes no page until `resume`. */
class Subscriber {
  readonly events: LoggedEvent[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #held: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  ended = false;

  constructor(eventLog: EventLog, after: Position | null) {
    this.#running = this.#run(eventLog, after);
  }

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  resume(): void {
    this.#release();
  }

  of(stream: string): LoggedEvent[] {
    return this.events.filter((event) => event.stream === stream);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(eventLog: EventLog, after: Position | null): Promise<void> {
    for await (const page of eventLog.subscribe(after, this.#stop.signal)) {
      expect(page.events.length).toBeGreaterThan(0);
      expect(page.next).toBe(page.events.at(-1)?.position);
      this.events.push(...page.events);
      await this.#held;
    }
    this.ended = true;
  }
}

export function describeSubscribing(fixture: () => EventLogFixture): void {
  describe('a subscription', () => {
    it('yields existing events, then new ones, and ends when it is aborted', async () => {
      const log = fixture().open();
      const before = await currentEnd(fixture(), log);
      const stream = newStream();
      const events = newEvents(30);
      await log.append(stream, NO_STREAM, events.slice(0, 10));
      const subscriber = new Subscriber(log, before);
      await until(() => subscriber.of(stream).length === 10);
      for (let n = 10; n < 30; n += 5) await log.append(stream, n - 1, events.slice(n, n + 5));
      await until(() => subscriber.of(stream).length === 30);
      await subscriber.stop();
      expect(subscriber.ended).toBe(true);
      expect(subscriber.of(stream).map(plain)).toEqual(events.map(plain));
      expect(subscriber.of(stream).map((event) => event.revision)).toEqual([...Array(30).keys()]);
    });

    it('starts at the beginning of the log, and after any position', async () => {
      const log = fixture().open();
      const stream = newStream();
      await log.append(stream, NO_STREAM, newEvents(5));
      const all = await readToEnd(log, null);
      for (const start of [0, all.length - 3]) {
        const subscriber = new Subscriber(log, start === 0 ? null : (all[start - 1]?.position ?? null));
        await until(() => subscriber.events.length >= all.length - start);
        await subscriber.stop();
        expect(subscriber.events.map((event) => event.id)).toEqual(all.slice(start).map((event) => event.id));
      }
    });

    it('ends immediately if it is aborted before it begins or while it is idle', async () => {
      const log = fixture().open();
      const end = await currentEnd(fixture(), log);
      const never = new AbortController();
      never.abort();
      for await (const _ of log.subscribe(end, never.signal)) throw new Error('a page after the end');
      const idle = new Subscriber(log, end);
      await idle.stop();
      expect(idle.ended).toBe(true);
    });

    it('neither skips nor repeats an event over repeated connection losses under load', async () => {
      const proxy = await fixture().startProxy();
      const log = fixture().open({ through: proxy });
      const writer = fixture().open();
      const before = await currentEnd(fixture(), writer);
      const stream = newStream();
      const events = newEvents(600, 500);
      const subscriber = new Subscriber(log, before);
      for (let n = 0; n < 600; n += 20) {
        await writer.append(stream, n - 1, events.slice(n, n + 20));
        if (n % 100 === 0) proxy.cutConnections();
      }
      await until(() => subscriber.of(stream).length >= 600);
      await subscriber.stop();
      expect(subscriber.of(stream).map((event) => event.id)).toEqual(events.map((event) => event.id));
    });

    it('that the server drops as too slow misses no event', async () => {
      const { slowConsumerMessage } = fixture();
      const interruptions: unknown[] = [];
      const log = fixture().open({ onInterruption: (error) => interruptions.push(error) });
      const writer = fixture().open();
      const before = await currentEnd(fixture(), writer);
      const stream = newStream();
      // As many as fill the buffers of a server that drops a slow reader.
      const count = slowConsumerMessage === null ? 150 : 1_500;
      const events = newEvents(count, 20_000);
      const subscriber = new Subscriber(log, before);
      await writer.append(stream, NO_STREAM, events.slice(0, 1));
      await until(() => subscriber.of(stream).length === 1);
      subscriber.hold();
      for (let n = 1; n < count; n += 1) await writer.append(stream, n - 1, events.slice(n, n + 1));
      subscriber.resume();
      await until(() => subscriber.of(stream).length >= count);
      await subscriber.stop();
      expect(subscriber.of(stream).map((event) => event.id)).toEqual(events.map((event) => event.id));
      if (slowConsumerMessage !== null) {
        expect(interruptions.map(String)).toContainEqual(expect.stringMatching(slowConsumerMessage));
      }
    });
  });
}

export function describeRestarts(fixture: () => RestartableFixture): void {
  describe('a subscription', () => {
    it('neither skips nor repeats an event over a restart of the server', async () => {
      const interruptions: unknown[] = [];
      const log = fixture().open({ onInterruption: (error) => interruptions.push(error) });
      const before = await currentEnd(fixture(), log);
      const stream = newStream();
      const events = newEvents(60);
      const subscriber = new Subscriber(log, before);
      await appendPersistently(log, stream, NO_STREAM, events.slice(0, 20));
      await until(() => subscriber.of(stream).length === 20);
      await fixture().restartServer();
      await appendPersistently(log, stream, 19, events.slice(20, 40));
      await until(() => subscriber.of(stream).length === 40);
      const restart = fixture().restartServer();
      await appendPersistently(log, stream, 39, events.slice(40));
      await restart;
      await until(() => subscriber.of(stream).length >= 60);
      await subscriber.stop();
      expect(subscriber.of(stream).map(plain)).toEqual(events.map(plain));
      expect(interruptions).not.toEqual([]);
    });
  });
}
