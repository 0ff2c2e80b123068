import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyLog } from '../../src/event-log/copy-log.js';
import { LogIdentityMismatch } from '../../src/event-log/errors.js';
import { ensureLogIdentity, readLogIdentity } from '../../src/event-log/log-identity.js';
import { type EventLog, NO_STREAM } from '../../src/event-log/port.js';
import { describeEventLogContract } from './contract.js';
import { newEvents, newStream, plain, readToEnd } from './events.js';
import { reachEventStoreDb } from './eventstoredb-fixture.js';
import type { EventLogFixture } from './fixture.js';
import { startPostgresFixture } from './postgres-fixture.js';

const url = process.env.EVENTSTORE_URL;
const restartCommand = process.env.EVENTSTORE_RESTART_COMMAND;

if (url === undefined) {
  console.log('SKIPPED: the EventStoreDB contract suite needs a server; name it in EVENTSTORE_URL.');
  describe.skip('eventstoredb event log (EVENTSTORE_URL is not set)', () => {
    it('keeps the contract of the event log', () => undefined);
  });
} else {
  if (restartCommand === undefined) {
    console.log(
      'EVENTSTORE_RESTART_COMMAND is not set: a restart is played by a proxy that cuts and refuses connections.',
    );
  }
  const reach = () => reachEventStoreDb(url, restartCommand);
  describeCopies(reach);
  describeEventLogContract('eventstoredb', reach);
}

function describeCopies(reach: () => Promise<EventLogFixture>): void {
  describe('a log moved between postgres and eventstoredb', () => {
    let postgres: EventLogFixture;
    let eventStoreDb: EventLogFixture;
    beforeAll(async () => {
      postgres = await startPostgresFixture();
      eventStoreDb = await reach();
    });
    afterAll(async () => {
      await postgres.close();
      await eventStoreDb.close();
    });
    const contents = async (log: EventLog) =>
      (await readToEnd(log, null)).map((event) => ({
        ...plain(event),
        stream: event.stream,
        revision: event.revision,
      }));

    it('keeps streams, revisions, ids, bytes and order, and its identity', async (context) => {
      const [from, to] = [postgres.open(), eventStoreDb.open()];
      context.skip(
        (await to.readAll(null, 1)).events.length > 0,
        'the server is not new: there is something in its log',
      );
      const identity = await ensureLogIdentity(from, null);
      const [a, b] = [newStream(), newStream('notices')];
      for (let round = 0; round < 10; round += 1) {
        await from.append(a, round * 3 - 1, newEvents(3));
        await from.append(b, round - 1, newEvents(1, 300_000));
      }
      expect(await copyLog(from, to)).toEqual({ present: 0, copied: 41 });
      expect(await copyLog(from, to)).toEqual({ present: 41, copied: 0 });
      expect(await contents(to)).toEqual(await contents(from));
      expect(await readLogIdentity(to)).toBe(identity);
    });

    it('can go back', async () => {
      const fresh = await startPostgresFixture();
      const [from, to] = [eventStoreDb.open(), fresh.open()];
      await from.append(newStream(), NO_STREAM, newEvents(5));
      const identity = await ensureLogIdentity(from, null);
      const { copied } = await copyLog(from, to);
      expect(copied).toBeGreaterThanOrEqual(6);
      expect(await contents(to)).toEqual(await contents(from));
      expect(await ensureLogIdentity(to, identity)).toBe(identity);
      await expect(ensureLogIdentity(from, randomUUID())).rejects.toBeInstanceOf(LogIdentityMismatch);
      await fresh.close();
    });
  });
}
