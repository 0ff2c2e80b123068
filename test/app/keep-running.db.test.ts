import { expect, test } from 'vitest';
import { keepRunning } from '../../src/app/prepare-installation.js';
import { LogBehind } from '../../src/pipeline/event-log/errors.js';
import { type BackgroundPart, OperatorNeeded } from '../../src/platform/background/part.js';
import { silent } from '../pipeline/relay/pipeline.js';

const pauses = { logger: silent, firstPauseMs: 1, longestPauseMs: 1 };

function partThat(run: BackgroundPart['run']): BackgroundPart {
  return { name: 'relay', run, status: () => ({}) };
}

test('a part that meets a damaged log waits with the reason, and goes on after the repair', async () => {
  let runs = 0;
  const reasons: unknown[] = [];
  const stop = new AbortController();
  const part = keepRunning(
    partThat(async () => {
      runs += 1;
      reasons.push(part.reasons?.());
      if (runs < 3) throw new LogBehind('ledger', 3, 1);
    }),
    pauses,
  );
  await part.run(stop.signal);
  const damaged = [{ code: 'log_damaged', names: ['LogBehind'] }];
  expect(reasons).toEqual([[], damaged, damaged]);
});

test('the reason ends when the part has run for a while', async () => {
  let isBroken = true;
  const stop = new AbortController();
  const part = keepRunning(
    partThat(async (signal) => {
      if (isBroken) {
        isBroken = false;
        throw new LogBehind('ledger', 3, 1);
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }),
    { ...pauses, steadyMs: 5 },
  );
  const running = part.run(stop.signal);
  await expect.poll(() => isBroken).toBe(false);
  await expect.poll(() => part.reasons?.()).toEqual([]);
  stop.abort();
  await running;
});

test('any other failure that needs an operator ends the part', async () => {
  const part = keepRunning(
    partThat(() => Promise.reject(new OperatorNeeded('wrong key'))),
    pauses,
  );
  await expect(part.run(new AbortController().signal)).rejects.toThrow('wrong key');
});
