import { expect, it } from 'vitest';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { keyOfCursor, pageOfRows } from '../../../src/api/panel/page.js';

const Key = z.tuple([z.int()]);
const rows = [1, 2, 3];

it('goes through a list page by page, each row once', () => {
  const page = (limit: number, after: number, cursor?: string) =>
    pageOfRows({ limit, cursor }, rows.filter((row) => row > after).slice(0, limit + 1), (row) => [row], String);
  const first = page(2, 0);
  expect(first.data).toEqual(['1', '2']);
  const key = keyOfCursor(Key, { limit: 2, cursor: first.next_cursor ?? '' });
  expect(key).toEqual([2]);
  expect(page(2, key?.[0] ?? 0)).toEqual({ data: ['3'], next_cursor: null });
  expect(page(3, 0).next_cursor).toBeNull();
});

it.each(['x', Buffer.from('["a"]').toString('base64url'), Buffer.from('[1,2]').toString('base64url')])(
  'refuses the cursor %s',
  (cursor) => {
    expect(() => keyOfCursor(Key, { limit: 1, cursor })).toThrow(ApiError);
  },
);

it('begins without a cursor', () => {
  expect(keyOfCursor(Key, { limit: 1 })).toBeNull();
});
