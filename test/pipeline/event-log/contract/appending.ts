import { describe, expect, it } from 'vitest';
import { AppendTooLarge, RevisionConflict } from '../../../../src/pipeline/event-log/errors.js';
import { NO_STREAM } from '../../../../src/pipeline/event-log/port.js';
import { newEvents, newStream, plain, readWholeStream } from '../events.js';
import type { EventLogFixture } from '../fixture.js';

export function describeAppending(fixture: () => EventLogFixture): void {
  describe('appending', () => {
    it('numbers the events of a stream from 0 without gaps', async () => {
      const log = fixture().open();
      const stream = newStream();
      expect(await log.lastRevision(stream)).toBe(NO_STREAM);
      expect(await log.readStream(stream, 0, 10)).toEqual([]);
      const first = newEvents(3);
      const second = newEvents(2);
      expect(await log.append(stream, NO_STREAM, first)).toEqual({ lastRevision: 2 });
      expect(await log.append(stream, 2, second)).toEqual({ lastRevision: 4 });
      expect(await log.lastRevision(stream)).toBe(4);
      const read = await log.readStream(stream, 0, 10);
      expect(read.map((event) => event.revision)).toEqual([0, 1, 2, 3, 4]);
      expect(read.map((event) => event.stream)).toEqual(Array(5).fill(stream));
      expect(read.map(plain)).toEqual([...first, ...second].map(plain));
      expect((await log.readStream(stream, 3, 10)).map((event) => event.revision)).toEqual([3, 4]);
      expect((await log.readStream(stream, 1, 2)).map((event) => event.revision)).toEqual([1, 2]);
      expect(await log.readStream(stream, 5, 10)).toEqual([]);
    });

    it.each([
      ['too high', 5],
      ['too low', 1],
      ['that of no stream', NO_STREAM],
    ])('refuses an expected revision that is %s, and writes nothing', async (_, expected) => {
      const log = fixture().open();
      const stream = newStream();
      const events = newEvents(3);
      await log.append(stream, NO_STREAM, events);
      const refusal = await log.append(stream, expected, newEvents(2)).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RevisionConflict);
      expect(refusal).toMatchObject({ stream, expectedRevision: expected, actualRevision: 2 });
      expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.map(plain));
    });

    it('refuses a revision of a stream that does not exist', async () => {
      const log = fixture().open();
      const stream = newStream();
      const refusal = await log.append(stream, 0, newEvents(1)).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RevisionConflict);
      expect(refusal).toMatchObject({ actualRevision: NO_STREAM });
      expect(await log.lastRevision(stream)).toBe(NO_STREAM);
    });

    it('lets exactly one of several racing writers win a revision', async () => {
      const logs = Array.from({ length: 4 }, () => fixture().open());
      const stream = newStream();
      const winners: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        const expected = round * 2 - 1;
        const entries = Array.from({ length: 12 }, () => newEvents(2));
        const outcomes = await Promise.allSettled(
          entries.map((events, index) => logs[index % 4]?.append(stream, expected, events)),
        );
        const won = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' ? [index] : []));
        const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
        expect(won).toHaveLength(1);
        for (const error of lost) {
          expect(error).toBeInstanceOf(RevisionConflict);
          expect(error).toMatchObject({ expectedRevision: expected, actualRevision: expected + 2 });
        }
        winners.push(...(entries[won[0] ?? -1] ?? []).map((event) => event.id));
      }
      const read = logs[0] ? await readWholeStream(logs[0], stream) : [];
      expect(read.map((event) => event.id)).toEqual(winners);
    });

    it('returns the first result for an append that is already in the log, and writes nothing', async () => {
      const log = fixture().open();
      const stream = newStream();
      const first = newEvents(2);
      const second = newEvents(3);
      await log.append(stream, NO_STREAM, first);
      await log.append(stream, 1, second);
      expect(await log.append(stream, NO_STREAM, first)).toEqual({ lastRevision: 1 });
      expect(await log.append(stream, 1, second)).toEqual({ lastRevision: 4 });
      expect((await readWholeStream(log, stream)).map(plain)).toEqual([...first, ...second].map(plain));
    });

    it('refuses an append of which only the first events are in the log', async () => {
      const log = fixture().open();
      const stream = newStream();
      const events = newEvents(5);
      await log.append(stream, NO_STREAM, events.slice(0, 2));
      await expect(log.append(stream, NO_STREAM, events)).rejects.toBeInstanceOf(RevisionConflict);
      expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.slice(0, 2).map(plain));
    });

    it('refuses an append above maxAppendBytes, and writes nothing of it', async () => {
      const log = fixture().open();
      const stream = newStream();
      const half = Math.ceil(log.maxAppendBytes / 2);
      await expect(log.append(stream, NO_STREAM, newEvents(2, half))).rejects.toBeInstanceOf(AppendTooLarge);
      await expect(log.append(stream, NO_STREAM, newEvents(1, log.maxAppendBytes))).rejects.toBeInstanceOf(
        AppendTooLarge,
      );
      expect(await log.lastRevision(stream)).toBe(NO_STREAM);
    });

    it('appends to several streams, and lets the failure of one affect no other', async () => {
      const log = fixture().open();
      const [fresh, existing, behind, ahead, present] = Array.from({ length: 5 }, () => newStream());
      if (!fresh || !existing || !behind || !ahead || !present) throw new Error('no streams');
      const first = newEvents(2);
      for (const stream of [existing, behind]) await log.append(stream, NO_STREAM, newEvents(2));
      await log.append(present, NO_STREAM, first);
      const added = [newEvents(2), newEvents(3)];
      const outcomes = await log.appendAll([
        { stream: fresh, expectedRevision: NO_STREAM, events: added[0] ?? [] },
        { stream: ahead, expectedRevision: 4, events: newEvents(1) },
        { stream: behind, expectedRevision: NO_STREAM, events: newEvents(1) },
        { stream: '$system', expectedRevision: NO_STREAM, events: newEvents(1) },
        { stream: newStream(), expectedRevision: NO_STREAM, events: newEvents(1, log.maxAppendBytes) },
        { stream: present, expectedRevision: NO_STREAM, events: first },
        { stream: existing, expectedRevision: 1, events: added[1] ?? [] },
      ]);
      expect(outcomes).toMatchObject([
        { status: 'fulfilled', value: { lastRevision: 1 } },
        { status: 'rejected', reason: { name: RevisionConflict.name, stream: ahead, actualRevision: NO_STREAM } },
        { status: 'rejected', reason: { name: RevisionConflict.name, stream: behind, actualRevision: 1 } },
        { status: 'rejected', reason: expect.any(TypeError) },
        { status: 'rejected', reason: { name: AppendTooLarge.name } },
        { status: 'fulfilled', value: { lastRevision: 1 } },
        { status: 'fulfilled', value: { lastRevision: 4 } },
      ]);
      expect((await readWholeStream(log, fresh)).map(plain)).toEqual(added[0]?.map(plain));
      expect((await readWholeStream(log, existing)).slice(2).map(plain)).toEqual(added[1]?.map(plain));
      expect((await readWholeStream(log, present)).map(plain)).toEqual(first.map(plain));
      expect(await log.lastRevisions([fresh, ahead, behind, existing])).toEqual(
        new Map([
          [fresh, 1],
          [ahead, NO_STREAM],
          [behind, 1],
          [existing, 4],
        ]),
      );
      expect(await log.appendAll([])).toEqual([]);
    });

    it('refuses names, ids and revisions of the wrong form', async () => {
      const log = fixture().open();
      const [event] = newEvents(1);
      if (event === undefined) throw new Error('no event');
      const refused = [
        log.append('$system', NO_STREAM, [event]),
        log.append('', NO_STREAM, [event]),
        log.append(newStream(), -2, [event]),
        log.append(newStream(), 0.5, [event]),
        log.append(newStream(), NO_STREAM, []),
        log.append(newStream(), NO_STREAM, [event, event]),
        log.append(newStream(), NO_STREAM, [{ ...event, id: event.id.toUpperCase() }]),
        log.append(newStream(), NO_STREAM, [{ ...event, type: '$metadata' }]),
      ];
      for (const append of refused) await expect(append).rejects.toBeInstanceOf(TypeError);
    });
  });
}
