import { expect, it } from 'vitest';
import { Lanes, Semaphore } from '../../../src/pipeline/webhooks/webhooks-part.js';

/** A piece of work that ends when it is told to. */
function held(): { readonly work: () => Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => ended, end: () => end() };
}

it('keeps lanes free of slow receivers, and gives them to those that are fast again', async () => {
  const lanes = new Lanes({ lanes: 3, slowLanes: 2 });
  const [first, second] = [held(), held()];
  lanes.run('a', first.work);
  lanes.run('b', second.work);
  expect(lanes.refused).toEqual([]);
  lanes.note('a', 9_000);
  expect(lanes.refused).toEqual([]);
  lanes.note('b', null);
  lanes.note('c', 1_001);
  expect(lanes.refused.toSorted()).toEqual(['a', 'b', 'c']);
  expect(lanes.areFull).toBe(false);
  const third = held();
  lanes.run('d', third.work);
  expect(lanes.areFull).toBe(true);
  const ended = lanes.anyEnd();
  first.end();
  await ended;
  expect(lanes.areFull).toBe(false);
  expect(lanes.refused).toEqual([]);
  lanes.note('b', 10);
  lanes.note('c', 10);
  for (const one of [second, third]) one.end();
  await lanes.allEnd();
});

it('lets a bounded number work at a time, in their order', async () => {
  const permits = new Semaphore(2);
  const order: number[] = [];
  const enter = (number: number) => permits.enter().then(() => void order.push(number));
  const all = Promise.all([1, 2, 3, 4].map(enter));
  await new Promise(setImmediate);
  expect(order).toEqual([1, 2]);
  permits.leave();
  await new Promise(setImmediate);
  expect(order).toEqual([1, 2, 3]);
  permits.leave();
  await all;
  expect(order).toEqual([1, 2, 3, 4]);
});
