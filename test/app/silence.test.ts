import { expect, test } from 'vitest';
import { Silence } from '../../src/app/silence.js';

const LIMITS = { tickMs: 500, silentMs: 1_000, hungMs: 2_000, startMs: 3_000 };

function ticks(silence: Silence, count: number): string[] {
  return Array.from({ length: count }, () => silence.tick());
}

test('a process that gives no sign of life is silent, and then hung', () => {
  const silence = new Silence(LIMITS);
  silence.started();
  expect(ticks(silence, 4)).toEqual(['alive', 'silent', 'silent', 'hung']);
});

test('each sign of life counts', () => {
  const silence = new Silence(LIMITS);
  silence.started();
  for (let beats = 0; beats < 10; beats += 1) {
    silence.heard();
    expect(silence.tick()).toBe('alive');
  }
});

test('a process that starts has more time, and is not silent meanwhile', () => {
  expect(ticks(new Silence(LIMITS), 6)).toEqual(['alive', 'alive', 'alive', 'alive', 'alive', 'hung']);
});
