import { expect, test } from 'vitest';
import { spreadsheetText } from '../../schemas/text/spreadsheet-text.js';

test.each([
  // Where a spreadsheet begins a formula (OWASP, CSV Injection).
  ['=1+1', "'=1+1"],
  ['-2', "'-2"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  [' =1+1', " '=1+1"],
  ['"=1+1', '"\'=1+1'],
  ['x;=WEBSERVICE(A1);y', "x;'=WEBSERVICE(A1);y"],
  ['x|\t +1', "x|\t '+1"],
  ['x\r\n=1', "x\r\n'=1"],
  ['\tx', "'\tx"],
  ['\n=1', "'\n'=1"],
  // Where it does not: quoted cells end neither at a comma nor at a space.
  ['a =b, +c', 'a =b, +c'],
  ['2024-05-01', '2024-05-01'],
  ['{"a":"=1"}', '{"a":"=1"}'],
  ['', ''],
])('%j becomes %j', (text, safe) => {
  expect(spreadsheetText(text)).toBe(safe);
});
