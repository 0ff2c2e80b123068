import { expect, it } from 'vitest';
import { rangeOf } from '../../../src/api/server/send-package.js';

const ETAG = '"abc"';

it.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=5-', { first: 5, last: 9 }],
  ['bytes=5-99', { first: 5, last: 9 }],
  ['bytes=-3', { first: 7, last: 9 }],
  ['bytes=-99', { first: 0, last: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-2', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['records=0-1', 'whole'],
  [undefined, 'whole'],
] as const)('reads %s of ten bytes', (range, answer) => {
  expect(rangeOf(range, undefined, ETAG, 10)).toEqual(answer);
});

it('takes a range only of the content that the caller has the beginning of', () => {
  expect(rangeOf('bytes=5-', ETAG, ETAG, 10)).toEqual({ first: 5, last: 9 });
  expect(rangeOf('bytes=5-', '"another"', ETAG, 10)).toBe('whole');
});
