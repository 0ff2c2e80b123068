import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appendExactlyOnce } from '../../../../src/pipeline/event-log/append-exactly-once.js';
import { eventSize } from '../../../../src/pipeline/event-log/event-checks.js';
import { type NewEvent, NO_STREAM } from '../../../../src/pipeline/event-log/port.js';
import { currentEnd, newEvents, newStream, plain, readToEnd, readWholeStream } from '../events.js';
import type { EventLogFixture } from '../fixture.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * Bodies and metadata that a faulty adapter would change by parsing, serializing, trimming or
 * decoding.
 */
const AWKWARD = [
  Uint8Array.from({ length: 256 }, (_, value) => value),
  new Uint8Array(0),
  Uint8Array.of(0),
  Uint8Array.of(0, 0x7b, 0x7d),
  Uint8Array.of(0xff, 0xfe, 0xfd),
  utf8('{"a":1}'),
  utf8(' { "b" : 1.0, "a" : 1e2, "b" : 2 } \n'),
  utf8('{"2":0,"1":0}'),
  utf8('{"__proto__":1,"\\u00e9":"\u00e9"}'),
  utf8('"text"'),
  utf8('""'),
  utf8('null'),
  utf8('12345678901234567890'),
  utf8('\ufeff{}'),
];

export function describeBytes(fixture: () => EventLogFixture): void {
  describe('bytes', () => {
    it('are returned unchanged, in bodies and in metadata', async () => {
      const log = fixture().open();
      const stream = newStream();
      const events: NewEvent[] = AWKWARD.flatMap((bytes) => [
        { id: randomUUID(), type: 'Data.v1', data: bytes, metadata: new Uint8Array(0) },
        { id: randomUUID(), type: 'Metadata.v1', data: utf8('{}'), metadata: bytes },
      ]);
      const before = await currentEnd(fixture(), log);
      await log.append(stream, NO_STREAM, events);
      expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.map(plain));
      const logged = (await readToEnd(log, before)).filter((event) => event.stream === stream);
      expect(logged.map(plain)).toEqual(events.map(plain));
    });

    it('of a view into a larger buffer are those of the view', async () => {
      const log = fixture().open();
      const stream = newStream();
      const whole = Uint8Array.from({ length: 100 }, (_, value) => value);
      const id = randomUUID();
      const view = whole.subarray(10, 20);
      await log.append(stream, NO_STREAM, [{ id, type: 'View.v1', data: view, metadata: view }]);
      expect((await log.readStream(stream, 0, 1)).map(plain)).toEqual([
        plain({ id, type: 'View.v1', data: view, metadata: view }),
      ]);
    });

    it('of one event fill an append to its limit', async () => {
      const log = fixture().open();
      const stream = newStream();
      const [small] = newEvents(1, 0);
      if (small === undefined) throw new Error('no event');
      const event = { ...small, data: Buffer.alloc(log.maxAppendBytes - eventSize(small), 0xa5) };
      expect(eventSize(event)).toBe(log.maxAppendBytes);
      await log.append(stream, NO_STREAM, [event]);
      expect((await log.readStream(stream, 0, 1)).map(plain)).toEqual([plain(event)]);
    });

    it('of a run of 1.5 MB are split into appends and read in pages', async () => {
      const log = fixture().open();
      const stream = newStream();
      const events = newEvents(300, 5_000);
      const range = await appendExactlyOnce(log, stream, NO_STREAM, events);
      expect(range).toEqual({ firstRevision: 0, lastRevision: 299 });
      expect((await readWholeStream(log, stream)).map(plain)).toEqual(events.map(plain));
    });

    it('of many large events are read completely, over several pages', async () => {
      const log = fixture().open();
      const stream = newStream();
      const events = newEvents(12, 800_000);
      const before = await currentEnd(fixture(), log);
      await appendExactlyOnce(log, stream, NO_STREAM, events);
      const ids = events.map((event) => event.id);
      expect((await readWholeStream(log, stream)).map((event) => event.id)).toEqual(ids);
      const logged = (await readToEnd(log, before, 1_000)).filter((event) => event.stream === stream);
      expect(logged.map((event) => event.id)).toEqual(ids);
    });
  });
}
