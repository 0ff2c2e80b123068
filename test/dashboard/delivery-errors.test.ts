import { expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { errorInWords } from '../../dashboard/src/pages/webhooks/error-in-words.js';

test.each([
  ['the receiver answered 503', 'The receiver answered with the status 503.'],
  ['no response within 10 seconds', 'The receiver did not answer within 10 seconds.'],
  ['no connection (ECONNREFUSED)', 'No connection to the receiver (ECONNREFUSED).'],
  ['the host has no public address', 'The host of the address is not public.'],
  ['its record was erased', 'The record of the message was erased.'],
  ['something new', 'something new'],
])('the error “%s” of a delivery is said in words, in both languages', (error, words) => {
  expect(errorInWords(error, en.webhooks.errors)).toBe(words);
  if (words !== error) expect(errorInWords(error, tr.webhooks.errors)).not.toMatch(/receiver|host|record|within/);
});
