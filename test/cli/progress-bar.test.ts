import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { progressBar } from '../../src/cli/command/progress-bar.js';

/** What a terminal shows of counts, one after the other. */
function shown(...counts: readonly (readonly [done: number, total: number])[]): string {
  const texts: string[] = [];
  const terminal = new Writable({
    write: (text, _encoding, done) => {
      texts.push(String(text));
      done();
    },
  });
  const stderr = Object.assign(terminal, { isTTY: true, columns: 80 });
  const bar = progressBar({ stderr }, '[{bar}] {value} of {total}');
  for (const [done, total] of counts) bar.update(done, total);
  bar.stop();
  return texts.join('');
}

test('a bar appears with the first thing to count', () => {
  expect(shown([0, 0])).toBe('');
  expect(shown([0, 0], [0, 10], [10, 10])).toMatch(/-{40}\] 0 of 10.*={40}\] 10 of 10/s);
});

test('a bar is never more than full', () => {
  expect(shown([3, 2])).toMatch(/={40}\] 3 of 3/);
});
