import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { sharedController, withAnySignal } from '../../../src/platform/background/signals.js';
import { pause, WakeUp } from '../../../src/platform/background/waiting.js';

test('a shared signal takes many listeners without a warning', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', onWarning);
  const shared = sharedController();
  const pauses = Array.from({ length: 20 }, () => pause(600_000, shared.signal));
  const derived = withAnySignal([shared.signal], (signal) =>
    Promise.all(Array.from({ length: 20 }, () => pause(600_000, signal))),
  );
  // Node emits warnings in a later turn of its loop.
  await new Promise(setImmediate);
  shared.abort();
  await Promise.all([...pauses, derived]);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

describe('withAnySignal', () => {
  test.each([0, 1])('aborts the signal of the work with the reason of source %i', async (aborted) => {
    const sources = [new AbortController(), new AbortController()];
    const reason = new Error('stop');
    await withAnySignal(
      sources.map(({ signal }) => signal),
      async (signal) => {
        expect(signal.aborted).toBe(false);
        sources[aborted]?.abort(reason);
        expect(signal.reason).toBe(reason);
      },
    );
  });

  test('starts aborted if a source was already aborted', async () => {
    const aborted = await withAnySignal([new AbortController().signal, AbortSignal.abort()], async (s) => s.aborted);
    expect(aborted).toBe(true);
  });

  test('leaves no listener on its sources, whether the work succeeds or fails', async () => {
    const { signal } = new AbortController();
    await withAnySignal([signal], async () => expect(getEventListeners(signal, 'abort')).toHaveLength(1));
    await expect(withAnySignal([signal], () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });
});

describe('pause', () => {
  test('ends immediately when any of its signals is aborted, and leaves no listener on them', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const paused = pause(600_000, first.signal, second.signal);
    second.abort();
    await paused;
    expect([first, second].map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
  });
});

describe('WakeUp', () => {
  test('ends the current pause', async () => {
    const wakeUp = new WakeUp();
    wakeUp.begin();
    const paused = wakeUp.pause(600_000, new AbortController().signal);
    wakeUp.wake();
    await paused;
  });

  test('ends the next pause immediately if the notification came during the turn', async () => {
    const wakeUp = new WakeUp();
    wakeUp.begin();
    wakeUp.wake();
    await wakeUp.pause(600_000, new AbortController().signal);
  });

  test('discards a notification from before the turn', async () => {
    const wakeUp = new WakeUp();
    wakeUp.wake();
    wakeUp.begin();
    const stop = new AbortController();
    let isOver = false;
    const paused = wakeUp.pause(600_000, stop.signal).then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    stop.abort();
    await paused;
  });
});
