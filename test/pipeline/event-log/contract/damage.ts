import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { consentsStream, noticesStream } from '../../../../schemas/events/streams.js';
import { RevisionGap } from '../../../../src/pipeline/event-log/errors.js';
import { type LoggedEvent, NO_STREAM } from '../../../../src/pipeline/event-log/port.js';
import { currentEnd, newEvents, newStream, readToEnd } from '../events.js';
import type { EventLogFixture } from '../fixture.js';

/** Tests of a log on a server that other programs and operators change. */
export function describeDamage(fixture: () => EventLogFixture): void {
  describe('a log that others write to', () => {
    it('passes over the streams of other programs, and counts each of their events once', async () => {
      const foreign: LoggedEvent[] = [];
      const log = fixture().open({ onForeign: (event) => foreign.push(event) });
      const before = await currentEnd(fixture(), log);
      const [own, other] = [newStream(), `orders-${randomUUID()}`];
      await log.append(own, NO_STREAM, newEvents(1));
      await fixture().writeForeign(other, 'OrderPlaced');
      await log.append(own, 0, newEvents(1));
      const read = await readToEnd(log, before, 1);
      expect(read.map(({ stream }) => stream)).not.toContain(other);
      expect(read.filter(({ stream }) => stream === own).map(({ revision }) => revision)).toEqual([0, 1]);
      await readToEnd(log, before);
      expect(foreign.filter(({ stream }) => stream === other)).toHaveLength(1);
    });

    it('passes over them in a subscription', async () => {
      const log = fixture().open();
      const before = await currentEnd(fixture(), log);
      const own = newStream();
      await fixture().writeForeign(`orders-${randomUUID()}`, 'OrderPlaced');
      await log.append(own, NO_STREAM, newEvents(1));
      const stop = new AbortController();
      const streams: string[] = [];
      for await (const page of log.subscribe(before, stop.signal)) {
        streams.push(...page.events.map(({ stream }) => stream));
        if (streams.includes(own)) stop.abort();
      }
      expect(streams).toEqual([own]);
    });

    it('gives a foreign event in a stream of the service, with a body that no schema accepts', async () => {
      const log = fixture().open();
      const before = await currentEnd(fixture(), log);
      const site = randomUUID();
      const stream = consentsStream(site);
      await log.append(stream, NO_STREAM, newEvents(1));
      await fixture().writeForeign(stream, 'OrderPlaced');
      await log.append(noticesStream(site), NO_STREAM, newEvents(1));
      const read = await readToEnd(log, before);
      const found = read.find((event) => event.stream === stream && event.revision === 1);
      expect(found?.data.byteLength).toBe(0);
      expect(read.at(-1)?.stream).toBe(noticesStream(site));
      expect((await log.readStream(stream, 0, 10)).map(({ data }) => data.byteLength)).toEqual([64, 0]);
      expect(await log.lastRevision(stream)).toBe(1);
    });
  });

  describe('a log that lost events', () => {
    it('reads no page over a gap at the start of a stream', async () => {
      const log = fixture().open();
      const stream = newStream();
      await log.append(stream, NO_STREAM, newEvents(5));
      await fixture().removeFirst(stream, 3);
      expect(await log.firstRevisions([stream])).toEqual(new Map([[stream, 3]]));
      expect(await log.lastRevision(stream)).toBe(4);
      const gap = await log.readStream(stream, 0, 10).catch((error: unknown) => error);
      expect(gap).toBeInstanceOf(RevisionGap);
      expect(gap).toMatchObject({ stream, expectedRevision: 0, foundRevision: 3 });
      expect((await log.readStream(stream, 3, 10)).map(({ revision }) => revision)).toEqual([3, 4]);
      const single = await log.readEvents([2, 3].map((revision) => ({ stream, revision })));
      expect(single.map((event) => event?.revision ?? null)).toEqual([null, 3]);
    });

    it('has no events in a deleted stream, and reads all others', async () => {
      const log = fixture().open();
      const [deleted, other] = [newStream(), newStream()];
      for (const stream of [deleted, other]) await log.append(stream, NO_STREAM, newEvents(2));
      await fixture().deleteStream(deleted);
      expect(await log.readStream(deleted, 0, 10)).toEqual([]);
      expect(await log.readEvents([{ stream: deleted, revision: 0 }])).toEqual([null]);
      expect(await log.lastRevisions([deleted, other])).toEqual(
        new Map([
          [deleted, NO_STREAM],
          [other, 1],
        ]),
      );
      expect(await log.firstRevisions([deleted, other])).toEqual(
        new Map([
          [deleted, NO_STREAM],
          [other, 0],
        ]),
      );
      await expect(log.append(deleted, 1, newEvents(1))).rejects.toThrow();
    });
  });
}
