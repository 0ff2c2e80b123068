import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEvents, newStream } from './events.js';
import { type PostgresFixture, startPostgresFixture } from './postgres-fixture.js';

describe('smoke', () => {
  let fixture: PostgresFixture;
  beforeAll(async () => {
    fixture = await startPostgresFixture();
  });
  afterAll(() => fixture.close());
  it('appends and reads', async () => {
    const log = fixture.open();
    const stream = newStream();
    const events = newEvents(3);
    expect(await log.append(stream, -1, events)).toEqual({ lastRevision: 2 });
    expect((await log.readStream(stream, 0, 10)).length).toBe(3);
    expect((await log.readAll(null, 10)).events.length).toBe(3);
    await fixture.restartServer();
    expect(await log.lastRevision(stream)).toEqual(2);
  });
});
