import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BLIND_INDEX_BYTES, type BlindIndexKind, blindIndex } from '../../../src/platform/keys/index.js';

const siteKey = randomBytes(32);
const index = (kind: BlindIndexKind, value: string, key: Buffer = siteKey) =>
  blindIndex(key, kind, value).toString('hex');

describe('blind indexes', () => {
  it('differ by site, kind and value', () => {
    const all = [
      index('visitor', 'a'),
      index('visitor', 'b'),
      index('email', 'a'),
      index('phone', 'a'),
      index('id_number', 'a'),
      index('visitor', 'a', randomBytes(32)),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(blindIndex(siteKey, 'visitor', 'a')).toHaveLength(BLIND_INDEX_BYTES);
  });

  it.each<[BlindIndexKind, string, string]>([
    ['email', ' Ada@Example.ORG ', 'ada@example.org'],
    ['email', 'jose\u0301@example.org', 'jos\u00e9@example.org'],
    ['phone', '+90 (532) 111-22.33', '+905321112233'],
    ['phone', '0090 532 111 22 33', '+905321112233'],
    ['phone', '\uff0b\uff19\uff10 \uff08532\uff09 111\u00a022\u221233', '+905321112233'],
    ['phone', '+44 (0) 20 7946 0000', '+442079460000'],
    ['phone', '0044(0)20 7946 0000', '+442079460000'],
    ['phone', 'tel:+44-20-7946-0000', '+442079460000'],
    ['phone', '+\u0664\u0664 \u06f2\u06f0 \u096d946 0000', '+442079460000'],
    ['phone', ' +44\u200b 20 79460000\u2060', '+442079460000'],
    ['email', 'bob@\u00e9xample.org', 'bob@e\u0301xample.org'],
    ['email', 'bob@\u00c9XAMPLE.org.', 'bob@xn--xample-9ua.org'],
    ['email', 'ada@example.org.', 'ada@example.org'],
    ['email', '\u3000ada@example.org\u00a0', 'ada@example.org'],
    ['email', 'ada@example\uff0eorg', 'ada@example.org'],
    ['email', 'ada\u200b@example.org', 'ada@example.org'],
    ['id_number', ' AB 12 ', 'AB 12'],
    ['id_number', '\uff21\uff22 \uff11\uff12', 'AB 12'],
    ['visitor', 'e\u0301', '\u00e9'],
    ['id_number', 'e\u0301', '\u00e9'],
  ])('are equal for two spellings of one %s: %j, %j', (kind, one, other) => {
    expect(index(kind, one)).toBe(index(kind, other));
  });

  it.each<[BlindIndexKind, string, string]>([
    ['visitor', 'User', 'user'],
    ['visitor', 'user ', 'user'],
    ['id_number', 'AB 1', 'AB1'],
    ['phone', '+905321112233', '905321112233'],
    ['phone', '0532 111 22 33 x5', '0532111 22 335'],
    ['phone', '\u0661', '\u0662'],
    ['email', 'a.b@example.org', 'ab@example.org'],
    ['email', '.', '..'],
    ['email', 'ada@example.org', 'ada@example.com'],
    ['email', 'ada@\uff0e', 'ada@'],
    ['phone', '+44 (20) 79460000', '+44 (0) (20) 7946000'],
    ['phone', '0 532', '532'],
  ])('differ for two values of %s: %j, %j', (kind, one, other) => {
    expect(index(kind, one)).not.toBe(index(kind, other));
  });
});
