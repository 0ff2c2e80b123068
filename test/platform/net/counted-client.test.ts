import { describe, expect, it } from 'vitest';
import { countedClient } from '../../../src/platform/net/client-address.js';

const isSame = (a: string, b: string, prefix = 64): boolean => countedClient(a, prefix) === countedClient(b, prefix);

describe('the client for which limits count', () => {
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::7', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '::FFFF:c000:201', true],
    ['192.0.2.1', '::192.0.2.1', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['fe80::1%eth0', 'fe80::1%eth1', true],
    ['unknown', 'other', false],
  ])('of %s and of %s is the same: %s', (a, b, same) => {
    expect(isSame(a, b)).toBe(same);
  });

  it.each([
    [48, '2001:db8:1:2::1', '2001:db8:1:ffff::', true],
    [48, '2001:db8:1::', '2001:db8:2::', false],
    [56, '2001:db8:1:200::', '2001:db8:1:2ff::', true],
    [60, '2001:db8:1:20::', '2001:db8:1:2f::', true],
    [60, '2001:db8:1:20::', '2001:db8:1:30::', false],
    [128, '2001:db8::1', '2001:db8::2', false],
    [128, '2001:db8::1', '2001:db8:0::1', true],
    [48, '192.0.2.1', '192.0.2.2', false],
  ])('with a prefix of %s bits, of %s and of %s is the same: %s', (prefix, a, b, same) => {
    expect(isSame(a, b, prefix)).toBe(same);
  });
});
