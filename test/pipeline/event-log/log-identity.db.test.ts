import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendExactlyOnce } from '../../../src/pipeline/event-log/append-exactly-once.js';
import { copyLog } from '../../../src/pipeline/event-log/copy-log.js';
import { LogDiverged, LogIdentityMismatch } from '../../../src/pipeline/event-log/errors.js';
import { ensureLogIdentity, readLogIdentity, writeLogIdentity } from '../../../src/pipeline/event-log/log-identity.js';
import { type EventLog, NO_STREAM } from '../../../src/pipeline/event-log/port.js';
import { createPostgresEventLog } from '../../../src/pipeline/event-log/postgres/postgres-event-log.js';
import { newEvents, newStream, plain, readToEnd } from './events.js';
import { type PostgresFixture, startPostgresFixture } from './postgres-fixture.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the identity of a log and of its copy', () => {
  let fixture: PostgresFixture;
  const logs: EventLog[] = [];
  const newLog = async (): Promise<EventLog> => {
    const log = createPostgresEventLog({ url: await fixture.newDatabase(), role: 'consent_ledger_worker' });
    logs.push(log);
    return log;
  };
  beforeAll(async () => {
    fixture = await startPostgresFixture();
  });
  afterAll(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await fixture.close();
  });

  describe('the identity', () => {
    it('is written once to an empty log, even by processes that start at the same time', async () => {
      const log = await newLog();
      expect(await readLogIdentity(log)).toBeNull();
      const given = await Promise.all(Array.from({ length: 6 }, () => ensureLogIdentity(log, null)));
      expect(new Set(given).size).toBe(1);
      const [identity] = given;
      expect(identity).toMatch(UUID);
      expect(await ensureLogIdentity(log, identity ?? null)).toBe(identity);
      expect(await log.lastRevision('log-identity')).toBe(0);
    });

    it('stored in PostgreSQL must equal that of the log, otherwise the message says what to do', async () => {
      const log = await newLog();
      const identity = await ensureLogIdentity(log, null);
      const other = randomUUID();
      const mismatch = await ensureLogIdentity(log, other).catch((error: unknown) => error);
      expect(mismatch).toBeInstanceOf(LogIdentityMismatch);
      expect(mismatch).toMatchObject({ storedIdentity: other, foundIdentity: identity });
      expect(String(mismatch)).toContain('consent-ledger admin log copy');
      expect(String(mismatch)).toContain('admin log recover');
    });

    it('is not written to an empty log if PostgreSQL stores another one, except by a recovery', async () => {
      const log = await newLog();
      const known = randomUUID();
      await expect(ensureLogIdentity(log, known)).rejects.toMatchObject({
        name: LogIdentityMismatch.name,
        foundIdentity: null,
      });
      expect(await log.lastRevision('log-identity')).toBe(NO_STREAM);
      expect(await writeLogIdentity(log, known)).toBe(known);
      expect(await ensureLogIdentity(log, known)).toBe(known);
      expect(await writeLogIdentity(log, randomUUID())).toBe(known);
    });
  });

  describe('a copy', () => {
    /**
     * Fills a log with three interleaved streams, one of them with events too large for few
     * appends.
     */
    const fill = async (eventLog: EventLog): Promise<void> => {
      await ensureLogIdentity(eventLog, null);
      const [a, b, c] = [newStream(), newStream('notices'), newStream()];
      for (let round = 0; round < 20; round += 1) {
        await eventLog.append(a, round * 3 - 1, newEvents(3));
        await eventLog.append(b, round - 1, newEvents(1));
      }
      await appendExactlyOnce(eventLog, c, NO_STREAM, newEvents(30, 100_000));
      await eventLog.append(a, 59, newEvents(2));
    };
    const contents = async (eventLog: EventLog) =>
      (await readToEnd(eventLog, null)).map((event) => ({
        ...plain(event),
        stream: event.stream,
        revision: event.revision,
      }));

    it('has the same streams, revisions, ids and bytes in the same order, and the identity', async () => {
      const [from, to] = [await newLog(), await newLog()];
      await fill(from);
      const progress: unknown[] = [];
      const total = (await contents(from)).length;
      expect(await copyLog(from, to, (step) => progress.push(step))).toEqual({ present: 0, copied: total });
      expect(progress.at(-1)).toEqual({ present: 0, copied: total });
      expect(await contents(to)).toEqual(await contents(from));
      expect(await readLogIdentity(to)).toBe(await readLogIdentity(from));
      expect(await copyLog(from, to)).toEqual({ present: total, copied: 0 });
    });

    it('that was interrupted is continued', async () => {
      const [from, to] = [await newLog(), await newLog()];
      await fill(from);
      let appends = 0;
      const failing: EventLog = Object.create(to, {
        append: {
          value: (...args: Parameters<EventLog['append']>) => {
            appends += 1;
            return appends > 25 ? Promise.reject(new Error('interrupted')) : to.append(...args);
          },
        },
        readAll: { value: to.readAll.bind(to) },
        readStream: { value: to.readStream.bind(to) },
      });
      await expect(copyLog(from, failing)).rejects.toThrow('interrupted');
      const there = (await contents(to)).length;
      expect(there).toBeGreaterThan(0);
      const total = (await contents(from)).length;
      expect(await copyLog(from, to)).toEqual({ present: there, copied: total - there });
      expect(await contents(to)).toEqual(await contents(from));
    });

    it('is refused by a target with other events, which stay unchanged', async () => {
      const from = await newLog();
      await fill(from);
      const another = await newLog();
      await ensureLogIdentity(another, null);
      const longer = await newLog();
      await copyLog(from, longer);
      await longer.append(newStream(), NO_STREAM, newEvents(1));
      for (const target of [another, longer]) {
        const before = await contents(target);
        await expect(copyLog(from, target)).rejects.toBeInstanceOf(LogDiverged);
        expect(await contents(target)).toEqual(before);
      }
    });
  });
});
