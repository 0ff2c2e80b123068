import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeAppending } from '../../pipeline/event-log/contract/appending.js';
import { describeBytes } from '../../pipeline/event-log/contract/bytes.js';
import { describeDamage } from '../../pipeline/event-log/contract/damage.js';
import { describeReading } from '../../pipeline/event-log/contract/reading.js';
import type { EventLogFixture } from '../../pipeline/event-log/fixture.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { openBench, prepareDatabase } from './bench.js';
import { type Bench, runHistory } from './history.js';
import { MemoryLogServer, openMemoryLog } from './memory-log.js';
import { type Plan, planOf } from './plan.js';
import { shrink } from './shrink.js';

const HISTORIES = 20;

let databases: readonly TestDatabase[];
let bench: Bench;
beforeAll(async () => {
  databases = await Promise.all([0, 1].map(() => createTestDatabase()));
  const [leader = '', standby = ''] = databases.map(({ url }) => url);
  for (const url of [leader, standby]) await prepareDatabase(url);
  bench = await openBench(leader, standby);
});
afterAll(async () => {
  await Promise.all([bench.leader.end(), bench.standby.end()]);
  await Promise.all(databases.map((database) => database.drop()));
});

test('every history keeps the rules', async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const plan = planOf(seed);
    const { problems } = await runHistory(plan, bench);
    expect(problems, `npm run simulate -- --plan '${JSON.stringify(plan)}'`).toEqual([]);
  }
});

test('a plan gives the same history again', async () => {
  const seeds = [3, 4, 14];
  for (const seed of seeds) {
    const [first, second] = [await runHistory(planOf(seed), bench), await runHistory(planOf(seed), bench)];
    expect(second.trace).toEqual(first.trace);
  }
});

test('shrinks a plan to what it needs to fail', async () => {
  const faults = ['late', 'refused', 'a worker hangs', 'late', 'doubled', 'late', 'time passes'] as const;
  const disturbances = faults.map((fault, place) => ({ at: place * 10, fault, choice: 0 }));
  const plan: Plan = { ...planOf(4), consents: 6, erasures: 2, disturbances };
  const fails = async ({ disturbances, consents }: Plan): Promise<boolean> =>
    consents >= 2 && disturbances.filter(({ fault }) => fault === 'late').length >= 2;
  const shortest = await shrink(plan, fails);
  expect(shortest).toMatchObject({ consents: 2, erasures: 0, workers: 1, quorum: 1, isShuffled: false });
  expect(shortest.disturbances.map(({ fault }) => fault)).toEqual(['late', 'late']);
});

/** The log of the histories. It has no server that could be restarted, and no network that could fail. */
function memoryFixture(): EventLogFixture {
  const server = new MemoryLogServer();
  const none = (): never => {
    throw new Error('a log in memory has none');
  };
  return {
    slowConsumerMessage: null,
    knownEnd: null,
    open: ({ onForeign } = {}) => openMemoryLog(server, onForeign === undefined ? {} : { onForeign }),
    startProxy: none,
    writeForeign: async (stream, type) => server.writeForeign(stream, type),
    removeFirst: async (stream, count) => server.removeFirst(stream, count),
    deleteStream: async (stream) => server.deleteStream(stream),
    close: async () => undefined,
  };
}

const fixture = memoryFixture();
describeAppending(() => fixture);
describeBytes(() => fixture);
describeDamage(() => fixture);
describeReading(() => fixture);
