import { randomUUID } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyLog } from '../../../src/pipeline/event-log/copy-log.js';
import { AppendRefused, LogIdentityMismatch } from '../../../src/pipeline/event-log/errors.js';
import { ensureLogIdentity } from '../../../src/pipeline/event-log/log-identity.js';
import { type EventLog, NO_STREAM, type Position } from '../../../src/pipeline/event-log/port.js';
import { describeEventLogContract, describeRestartedEventLog } from './contract.js';
import { newEvents, newStream, plain, readToEnd } from './events.js';
import { reachEventStoreDb } from './eventstoredb-fixture.js';
import type { EventLogFixture } from './fixture.js';
import { startPostgresFixture } from './postgres-fixture.js';

const url = process.env.EVENTSTORE_URL;
const restartCommand = process.env.EVENTSTORE_RESTART_COMMAND;

if (url === undefined) {
  console.log('SKIPPED: the EventStoreDB contract suite needs a server; name it in EVENTSTORE_URL.');
  describe.skip('eventstoredb event log (EVENTSTORE_URL is not set)', () => {
    it('fulfils the contract of the event log', () => undefined);
  });
} else {
  if (restartCommand === undefined) {
    console.log(
      'EVENTSTORE_RESTART_COMMAND is not set: a restart is played by a proxy that cuts and refuses connections.',
    );
  }
  const reach = () => reachEventStoreDb(url, restartCommand);
  describeCopies(reach);
  describeHiddenEvents(reach, url);
  describeEventLogContract('eventstoredb', reach);
  describeRestartedEventLog('eventstoredb', reach);
}

function describeCopies(reach: () => Promise<EventLogFixture>): void {
  describe('a log moved from postgres to eventstoredb and back', () => {
    const fixtures: EventLogFixture[] = [];
    const started = async (starting: Promise<EventLogFixture>): Promise<EventLogFixture> => {
      const fixture = await starting;
      fixtures.push(fixture);
      return fixture;
    };
    afterAll(() => Promise.all(fixtures.map((fixture) => fixture.close())));

    it('keeps streams, revisions, ids, bytes and order, and its identity', async (context) => {
      const middle = (await started(reach())).open();
      context.skip(!(await isEmpty(middle)), 'the server is not new: there is something in its log');
      const [first, last] = [
        (await started(startPostgresFixture())).open(),
        (await started(startPostgresFixture())).open(),
      ];
      const identity = await ensureLogIdentity(first, null);
      const [a, b] = [newStream(), newStream('notices')];
      for (let round = 0; round < 10; round += 1) {
        await first.append(a, round * 3 - 1, newEvents(3));
        await first.append(b, round - 1, newEvents(1, 300_000));
      }
      expect(await copyLog(first, middle)).toEqual({ present: 0, copied: 41 });
      expect(await copyLog(first, middle)).toEqual({ present: 41, copied: 0 });
      expect(await contents(middle)).toEqual(await contents(first));
      expect(await ensureLogIdentity(middle, identity)).toBe(identity);
      await expect(ensureLogIdentity(middle, randomUUID())).rejects.toBeInstanceOf(LogIdentityMismatch);

      await middle.append(a, 29, newEvents(2));
      expect(await copyLog(middle, last)).toEqual({ present: 0, copied: 43 });
      expect(await contents(last)).toEqual(await contents(middle));
      expect(await ensureLogIdentity(last, identity)).toBe(identity);
    });
  });
}

/** Events that the server hides by the metadata of their stream, and still has. */
function describeHiddenEvents(reach: () => Promise<EventLogFixture>, url: string): void {
  describe('a stream of eventstoredb that was deleted, not for good', () => {
    const other = EventStoreDBClient.connectionString(url);
    let fixture: EventLogFixture;
    beforeAll(async () => {
      fixture = await reach();
    });
    afterAll(async () => {
      await other.dispose();
      await fixture.close();
    });

    it('takes no first event, neither a new one nor one that it had', async () => {
      const log = fixture.open();
      const stream = newStream();
      const events = newEvents(3);
      await log.append(stream, NO_STREAM, events);
      await other.deleteStream(stream);
      await expect(log.append(stream, NO_STREAM, events)).rejects.toBeInstanceOf(AppendRefused);
      await expect(log.append(stream, NO_STREAM, newEvents(1))).rejects.toBeInstanceOf(AppendRefused);
      expect(await log.lastRevision(stream)).toBe(NO_STREAM);
    });

    it('has its events again, when its metadata was cleared twice', async () => {
      const log = fixture.open();
      const stream = newStream();
      const events = newEvents(3);
      await log.append(stream, NO_STREAM, events);
      await other.deleteStream(stream);
      await other.setStreamMetadata(stream, {});
      await expect(log.append(stream, NO_STREAM, events)).rejects.toBeInstanceOf(AppendRefused);
      await other.setStreamMetadata(stream, {});
      expect((await log.readStream(stream, 0, 10)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      await expect(log.append(stream, 2, newEvents(1))).resolves.toEqual({ lastRevision: 3 });
    });
  });
}

async function contents(eventLog: EventLog): Promise<unknown[]> {
  const events = await readToEnd(eventLog, null);
  return events.map((event) => ({ ...plain(event), stream: event.stream, revision: event.revision }));
}

async function isEmpty(eventLog: EventLog): Promise<boolean> {
  let position: Position | null = null;
  for (;;) {
    const page = await eventLog.readAll(position, 100);
    if (page.events.length > 0) return false;
    if (page.atEnd) return true;
    position = page.next;
  }
}
