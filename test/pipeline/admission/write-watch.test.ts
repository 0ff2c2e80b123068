import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createWriteWatch } from '../../../src/pipeline/admission/watches.js';

const PROVEN_MS = 10_000;

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code });
}

/** A watch whose time the test moves, and whose probes end as the test says. */
function watched() {
  const at = { ms: 0 };
  const query = vi.fn<(text: string, values: readonly number[]) => Promise<unknown>>(async () => undefined);
  const watch = createWriteWatch({ db: { query: Object.assign(query) }, monotonic: () => at.ms, provenMs: PROVEN_MS });
  return { at, watch, query };
}

const stored = async (): Promise<string> => 'stored';
const refused = (code: string) => () => Promise.reject(databaseError(code));

test('sends no probe while groups are stored', async () => {
  const { watch, at, query } = watched();
  expect(await watch.around(stored)).toBe('stored');
  at.ms = PROVEN_MS - 1;
  expect(await watch.check()).toEqual([]);
  expect(query).not.toHaveBeenCalled();
});

test('probes an idle database once in a while, however often it is asked', async () => {
  const { watch, at, query } = watched();
  for (let asked = 0; asked < 100; asked += 1) expect(await watch.check()).toEqual([]);
  expect(query).toHaveBeenCalledTimes(1);
  at.ms = PROVEN_MS;
  await watch.check();
  expect(query).toHaveBeenCalledTimes(2);
});

test('probes with more rows after a group failed, until one is stored', async () => {
  const { watch, query } = watched();
  await watch.around(stored);
  await expect(watch.around(refused('53100'))).rejects.toThrow('refused');
  query.mockRejectedValueOnce(databaseError('53100'));
  await expect(watch.check()).rejects.toThrow('refused');
  expect(await watch.check()).toEqual([]);
  expect(query.mock.calls.map(([, values]) => values)).toEqual([[1_000], [1_000]]);
  await watch.check();
  expect(query).toHaveBeenCalledTimes(2);
});

test('a request that the database refuses for its own data says nothing about writes', async () => {
  const { watch, query } = watched();
  await watch.around(stored);
  await expect(watch.around(refused('22021'))).rejects.toThrow('refused');
  expect(await watch.check()).toEqual([]);
  expect(query).not.toHaveBeenCalled();
});

test('tells a database that is away from one that refuses writes', () => {
  const { watch } = watched();
  expect(watch.ifUnknown(databaseError('25006'))).toBe('writes_failing');
  expect(watch.ifUnknown(databaseError('53100'))).toBe('writes_failing');
  expect(watch.ifUnknown(databaseError('57P01'))).toBe('database_away');
});
