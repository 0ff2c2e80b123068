import { describe, expect, it } from 'vitest';
import { acceptedLanguages } from '../../src/platform/accepted-languages.js';

describe('acceptedLanguages', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['tr', ['tr']],
    ['en;q=0.5, tr', ['tr', 'en']],
    ['en;Q=0.5, tr_TR', ['tr_TR', 'en']],
    ['en;q=0, tr;q=0.1', ['tr']],
    ['tr;q=2, de;q=x, fr', ['fr']],
    [`${'tr'.repeat(100)}, en`, ['en']],
  ])('parses %s', (header, expected) => {
    expect(acceptedLanguages(header)).toEqual(expected);
  });
});
