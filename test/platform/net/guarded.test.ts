import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { guarded } from '../../../src/platform/net/guarded.js';

test('a guarded listener that throws ends what it belongs to, is counted, and does not throw', () => {
  const ended: unknown[] = [];
  let caught = 0;
  const listener = (text: string): void => {
    if (text === 'hostile') throw new RangeError(text);
  };
  const end = (...values: readonly unknown[]) => ended.push(values);
  const emitter = new EventEmitter().on('data', guarded(listener, { end, onCaught: () => (caught += 1) }));
  for (const text of ['honest', 'hostile']) emitter.emit('data', text);
  expect(ended).toEqual([[new RangeError('hostile'), 'hostile']]);
  expect(caught).toBe(1);
});
