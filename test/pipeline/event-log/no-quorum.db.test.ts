import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/pipeline/event-log/errors.js';
import { createEventStoreDbEventLog } from '../../../src/pipeline/event-log/eventstoredb/eventstoredb-event-log.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { LeaderlessCluster } from './leaderless-cluster.js';

let cluster: LeaderlessCluster;
let log: EventLog;
const interruptions: unknown[] = [];
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeEach(async () => {
  cluster = await LeaderlessCluster.start();
  log = openLog(200);
  unhandled.length = 0;
  interruptions.length = 0;
  process.on('unhandledRejection', onUnhandled);
});
afterEach(async () => {
  await log.close();
  await cluster.close();
  // Node reports what nobody handles once the promises of a turn are settled.
  await new Promise(setImmediate);
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

const openLog = (searchMs: number) =>
  createEventStoreDbEventLog(cluster.url(searchMs), { onInterruption: (error) => void interruptions.push(error) });
/** To a stream that has an event: before the first event of one, its metadata is read. */
const append = (stream: string) =>
  log.append(stream, 0, [{ id: randomUUID(), type: 'Test.v1', data: Buffer.from('{}'), metadata: new Uint8Array(0) }]);
const waits = (call: string, count: number) => expect.poll(() => cluster.waiting(call)).toBe(count);

/** Every operation of the port. */
const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  append: () => append('a'),
  appendAll: async () => {
    const events = [{ id: randomUUID(), type: 'Test.v1', data: Buffer.from('{}'), metadata: new Uint8Array(0) }];
    const [outcome] = await log.appendAll([{ stream: 'a', expectedRevision: -1, events }]);
    if (outcome?.status === 'rejected') throw outcome.reason;
  },
  readStream: () => log.readStream('a', 0, 1),
  lastRevision: () => log.lastRevision('a'),
  lastRevisions: () => log.lastRevisions(['a', 'b']),
  readAll: () => log.readAll(null, 1),
  ping: () => log.ping(),
};

test.each(Object.keys(OPERATIONS))('%s fails without a leader, and nothing else does', async (name) => {
  cluster.hasLeader = false;
  await expect(OPERATIONS[name]?.()).rejects.toThrow(EventLogUnavailable);
});

test('a call that fails while the client looks for a leader in vain ends no process', async () => {
  await log.close();
  log = openLog(4_000);
  const [first, second] = [append('a'), append('b')];
  const outcomes = Promise.allSettled([first, second]);
  await waits('Append', 2);
  cluster.hasLeader = false;
  cluster.failOne('Append');
  await expect(Promise.race([first, second])).rejects.toThrow(AppendOutcomeUnknown);
  const third = append('c');
  const refused = expect(third).rejects.toThrow(EventLogUnavailable);
  cluster.failOne('Append');
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await refused;
  expect(interruptions.map(String)).toEqual([expect.stringMatching('Failed to discover')]);
});

test('a subscription and appends survive the loss of every connection and of the leader', async () => {
  const stop = new AbortController();
  const reading = (async () => {
    for await (const _ of log.subscribe(null, stop.signal));
  })();
  const outcomes = Promise.allSettled([append('a'), append('b'), log.readAll(null, 1)]);
  await waits('Append', 2);
  await waits('Read', 2);
  cluster.hasLeader = false;
  cluster.cut();
  const later = Promise.allSettled(Array.from({ length: 5 }, (_, i) => append(`later-${i}`)));
  expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  expect((await later).every(({ status }) => status === 'rejected')).toBe(true);
  await expect.poll(() => interruptions.map(String).join()).toMatch('Failed to discover');
  cluster.hasLeader = true;
  await waits('Read', 3);
  stop.abort();
  cluster.cut();
  await reading;
});
