import { expect, test } from 'vitest';
import { readPastGaps } from '../../src/audit/section.js';
import { assertContinuous } from '../../src/pipeline/event-log/event-checks.js';
import type { EventLog, StreamEvent } from '../../src/pipeline/event-log/port.js';

const LEFT = [0, 1, 4, 5];
const eventOf = (revision: number): StreamEvent => ({
  stream: 'policy',
  revision,
  id: `${revision}`,
  type: 'Test.v1',
  data: new Uint8Array(0),
  metadata: new Uint8Array(0),
});
/** A log that lost two events in the middle of a stream, and refuses such a page as its adapters do. */
const eventLog = {
  readStream: async (stream: string, from: number, limit: number) => {
    const page = LEFT.filter((revision) => revision >= from)
      .slice(0, limit)
      .map(eventOf);
    assertContinuous(stream, from, page);
    return page;
  },
} satisfies Pick<EventLog, 'readStream'>;

test('events before a gap are read, then those after it, and the gap is reported once', async () => {
  const gaps: number[][] = [];
  const read = async (from: number) => {
    const page = await readPastGaps(eventLog, 'policy', from, 10, ({ expectedRevision, foundRevision }) =>
      gaps.push([expectedRevision, foundRevision]),
    );
    return page.map(({ revision }) => revision);
  };
  expect(await read(0)).toEqual([0, 1]);
  expect(gaps).toEqual([]);
  expect(await read(2)).toEqual([4, 5]);
  expect(gaps).toEqual([[2, 4]]);
  expect(await read(6)).toEqual([]);
});
