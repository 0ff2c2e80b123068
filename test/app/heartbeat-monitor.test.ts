import { expect, test } from 'vitest';
import { HeartbeatMonitor } from '../../src/app/heartbeat-monitor.js';

const LIMITS = { tickMs: 500, silentMs: 1_000, hungMs: 2_000, startMs: 3_000 };

function ticks(silence: HeartbeatMonitor, count: number): string[] {
  return Array.from({ length: count }, () => silence.tick());
}

test('a process that gives no sign of life is silent, and then hung', () => {
  const silence = new HeartbeatMonitor(LIMITS);
  silence.started();
  expect(ticks(silence, 4)).toEqual(['alive', 'silent', 'silent', 'hung']);
});

test('each sign of life counts', () => {
  const silence = new HeartbeatMonitor(LIMITS);
  silence.started();
  for (let beats = 0; beats < 10; beats += 1) {
    silence.heard();
    expect(silence.tick()).toBe('alive');
  }
});

test('a process that starts has more time, and is not silent meanwhile', () => {
  expect(ticks(new HeartbeatMonitor(LIMITS), 6)).toEqual(['alive', 'alive', 'alive', 'alive', 'alive', 'hung']);
});
