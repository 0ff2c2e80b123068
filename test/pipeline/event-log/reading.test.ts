import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { gather } from '../../../src/pipeline/event-log/eventstoredb/reading.js';
import { toStreamEvent } from '../../../src/pipeline/event-log/eventstoredb/recorded-events.js';

/** A read of the client, without its server. */
class FakeRead extends Readable {
  constructor(private readonly events: unknown[]) {
    super({ objectMode: true });
  }
  override _read(): void {
    this.push(this.events.shift() ?? null);
  }
  async cancel(): Promise<void> {
    this.destroy();
  }
}

const event = (revision: unknown) => ({
  event: { streamId: 'other', revision, id: '1', type: 'other', data: new Uint8Array(0), metadata: undefined },
});

test('an event that cannot be read ends the read, not the process, and is counted once', async () => {
  let caught = 0;
  const taken: number[] = [];
  const take = (read: unknown): boolean => taken.push(toStreamEvent(read).revision) > 0;
  const reading = new FakeRead([event(0n), event('first'), event('second'), event(3n)]);
  await expect(gather(reading, 60_000, take, () => (caught += 1))).rejects.toThrow('revision');
  expect({ taken, caught }).toEqual({ taken: [0], caught: 1 });
});
