import { expect, test } from 'vitest';
import { gppOf } from '../../dashboard/src/pages/banner/gpp-of.js';

test('a category that the site no longer has is no opt-out any more', () => {
  const gpp = { cmp_id: 1, sections: ['usnat' as const], opt_out: ['marketing', 'analytics'] };
  expect(gppOf(gpp, ['analytics', 'preferences'])).toEqual({ ...gpp, opt_out: ['analytics'] });
});
