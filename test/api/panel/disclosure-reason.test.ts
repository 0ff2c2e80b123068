import { expect, it } from 'vitest';
import { refuseNaming, withoutValues } from '../../../src/api/panel/disclosure-reason.js';

it.each([
  ['Request of +905321112233', '+90 532 111 22 33'],
  ['Request of (0532) 111-22-33', '05321112233'],
  ['Request of ADA@SHOP.EXAMPLE', 'ada@shop.example'],
  ['Request of Rene\u0301e', 'Renée'],
  ['İSMAİL asked', 'ismail'],
])('%s names the person %s', (reason, identifier) => {
  expect(() => refuseNaming(reason, identifier)).toThrow();
});

it.each([
  ['Access request of 3 March', 'ada@shop.example'],
  ['Access request of 3 March', undefined],
  ['Access request', 'ss'],
])('%s does not name %s', (reason, identifier) => {
  expect(() => refuseNaming(reason, identifier)).not.toThrow();
});

it('replaces the disclosed values, also those within others', () => {
  const values = ['ada@shop.example', { city: 'Ankara', pets: ['Tekir'] }, 7, null];
  expect(withoutValues('Ada@shop.example of ANKARA, with tekir', values)).toBe('[…] of […], with […]');
});
