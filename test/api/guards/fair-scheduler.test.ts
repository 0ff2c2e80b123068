import { setImmediate as otherWork } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FairScheduler } from '../../../src/api/guards/fair-scheduler.js';

/** Work that runs until it is released. */
function work(turns: FairScheduler, owner: string, started: string[]) {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const done = turns.take(owner, async () => {
    started.push(owner);
    await released;
    return owner;
  });
  return { release, done };
}

describe('turns of large requests', () => {
  it('run one of each owner at a time, and not more than there are slots', async () => {
    const turns = new FairScheduler({ slots: 2, now: () => 0 });
    const started: string[] = [];
    const all = ['a', 'a', 'a', 'b', 'c'].map((owner) => work(turns, owner, started));
    await otherWork();
    expect(started).toEqual(['a', 'b']);
    for (const one of all) one.release();
    expect(await Promise.all(all.map(({ done }) => done))).toEqual(['a', 'a', 'a', 'b', 'c']);
  });

  it('go round the owners that wait', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0 });
    const started: string[] = [];
    const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map((owner) => work(turns, owner, started));
    for (const one of all) one.release();
    await Promise.all(all.map(({ done }) => done));
    expect(started).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('forget work whose client has gone before its turn', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0 });
    const started: string[] = [];
    const first = work(turns, 'a', started);
    const gone = new AbortController();
    const dropped = [
      turns.take('a', async () => started.push('gone'), gone.signal),
      turns.take('b', async () => started.push('gone'), gone.signal),
    ];
    const rest = [work(turns, 'c', started), work(turns, 'b', started)];
    const reason = new Error('the client has gone');
    gone.abort(reason);
    for (const one of dropped) await expect(one).rejects.toBe(reason);
    await expect(turns.take('a', async () => started.push('gone'), gone.signal)).rejects.toBe(reason);
    for (const one of [first, ...rest]) one.release();
    await Promise.all([first, ...rest].map(({ done }) => done));
    // An owner keeps its place as long as any work of it waits.
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('are taken for each page, and end before the page is used', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0 });
    const order: string[] = [];
    const read = async (owner: string): Promise<void> => {
      async function* pages(): AsyncGenerator<string, void> {
        for (const page of ['1', '2']) yield owner + page;
      }
      for await (const page of turns.pages(owner, pages())) order.push(page);
    };
    await Promise.all([read('a'), read('b')]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  it('continue after work that failed', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0 });
    const failing = turns.take('a', async () => {
      throw new Error('the work failed');
    });
    const next = turns.take('a', async () => 'done');
    await expect(failing).rejects.toThrow('the work failed');
    expect(await next).toBe('done');
  });

  it('let other work be done for a multiple of the time of each step', async () => {
    let now = 0;
    const turns = new FairScheduler({ slots: 1, now: () => now });
    const startedAt = performance.now();
    await turns.take('a', async (yieldToOthers) => {
      now += 50;
      await yieldToOthers();
    });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(149);
  });

  it('leave a slot empty after its work, while nobody waits for an answer', async () => {
    let now = 0;
    const turns = new FairScheduler({ slots: 1, now: () => now, pause: 2 });
    const started: string[] = [];
    const [first, second] = ['a', 'b'].map((owner) =>
      turns.take(owner, async () => {
        started.push(owner);
        now += 50;
        return performance.now();
      }),
    );
    await otherWork();
    expect(started).toContain('a');
    expect(((await second) ?? 0) - ((await first) ?? 0)).toBeGreaterThanOrEqual(99);
  });

  it('refuse work when too much waits, and take it again afterwards', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0, maxWaiting: 2 });
    const started: string[] = [];
    const all = ['a', 'b', 'b'].map((owner) => work(turns, owner, started));
    await expect(turns.take('c', async () => 'done')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retryAfterSeconds: 2 },
    });
    for (const one of all) one.release();
    await Promise.all(all.map(({ done }) => done));
    expect(await turns.take('c', async () => 'done')).toBe('done');
  });

  it('refuse an owner whose work takes all its places, and no other owner', async () => {
    const turns = new FairScheduler({ slots: 1, now: () => 0, maxOfOwner: 2 });
    const started: string[] = [];
    const all = ['a', 'a', 'a', 'b'].map((owner) => work(turns, owner, started));
    await expect(turns.take('a', async () => 'done')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    for (const one of all) one.release();
    await Promise.all(all.map(({ done }) => done));
    expect(await turns.take('a', async () => 'done')).toBe('done');
  });
});
