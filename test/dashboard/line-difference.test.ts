import { expect, test } from 'vitest';
import { changedLines, lineDifference } from '../../dashboard/src/pages/documents/line-difference.js';

const marks = { same: ' ', added: '+', removed: '-' } as const;
const shown = (before: string, after: string): string =>
  lineDifference(before, after)
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');

test('keeps equal lines, and marks those that were added and removed', () => {
  expect(shown('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toBe(' a\n-b\n+x\n c\n+y\n d');
  expect(shown('a\nb', 'a\nb')).toBe(' a\n b');
  expect(shown('a', 'a\na')).toBe(' a\n+a');
});

test('shows what changed with the two equal lines before and after it, and an ellipsis for the others', () => {
  const of = (before: string, after: string) =>
    changedLines(lineDifference(before, after)).map(({ kind, text }) => marks[kind] + text);
  const equal = ['a', 'b', 'c', 'd', 'e'].join('\n');
  expect(of(`${equal}\nold\n${equal}`, `${equal}\nnew\n${equal}`)).toEqual([
    ' …',
    ' d',
    ' e',
    '-old',
    '+new',
    ' a',
    ' b',
    ' …',
  ]);
  expect(of('a', 'b')).toEqual(['-a', '+b']);
});

test('gives both texts back, whatever they are', () => {
  const texts = ['', 'a', 'a\nb\na\nb', 'b\na', 'c\n\nc', 'a\nb\nc\nd\ne', 'e\nd\nc\nb\na'];
  for (const before of texts) {
    for (const after of texts) {
      const lines = lineDifference(before, after);
      const of = (other: string) =>
        lines
          .filter(({ kind }) => kind !== other)
          .map(({ text }) => text)
          .join('\n');
      expect([of('added'), of('removed')]).toEqual([before, after]);
    }
  }
});

test('compares long texts that differ everywhere without a table of all pairs', () => {
  const long = (letter: string) => Array.from({ length: 3000 }, (_, index) => `${letter}${index}`).join('\n');
  expect(lineDifference(long('a'), long('b'))).toHaveLength(6000);
});
