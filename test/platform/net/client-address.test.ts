import { describe, expect, it } from 'vitest';
import { createClientAddresses, forwardedAddress } from '../../../src/platform/net/client-address.js';

describe('an address as proxies write it', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    [' 198.51.100.7 ', '198.51.100.7'],
    ['198.51.100.7:51234', '198.51.100.7'],
    ['198.51.100.7:', '198.51.100.7'],
    ['198.51.100.7:_port', '198.51.100.7'],
    ['"198.51.100.7:80"', '198.51.100.7'],
    ['[198.51.100.7]:80', '198.51.100.7'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['2001:db8::1:51234', '2001:db8::1'],
    ['2001:db8:1:2:3:4:5:6:443', '2001:db8:1:2:3:4:5:6'],
    ['2001:db8::443', '2001:db8::443'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%25eth0', 'fe80::1'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:c633:6407', '198.51.100.7'],
    ['[::ffff:198.51.100.7%eth0]:80', '198.51.100.7'],
    ['::', '::'],
  ])('reads %j as %s', (text, address) => {
    expect(forwardedAddress(text)).toBe(address);
  });

  it.each([
    ...['', ' ', '""', 'unknown', '"unknown"', '_hidden', '-', '*', '%', '[', '[]', '[]:80', ':80', 'localhost:80'],
    ...['198.51.100', '198.51.100.256', '010.0.0.1', '0x7f000001', '198.51.100.7/32', '198.51.100.7%eth0'],
    ...['198.51.100.7:80:90', 'for=198.51.100.7', 'http://198.51.100.7', '２.1.1.1', '2001:db8::1::2', '12345::'],
    ...['198.51.100.7\0', '198.51.100.7 10.0.0.1', `${'1:'.repeat(8000)}1`, `[${'%'.repeat(8000)}]`],
  ])('finds no address in %j', (text) => {
    expect(forwardedAddress(text)).toBeNull();
  });
});

describe('the address of a client', () => {
  const addresses = createClientAddresses(['10.0.0.0/8', '2001:db8:ffff::/48', 'fe80::/10']);

  it.each([
    ['that connects directly', '198.51.100.9', '203.0.113.1', '198.51.100.9'],
    ['behind one proxy', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['whose port the proxy states', '10.0.0.1', '198.51.100.7:51234', '198.51.100.7'],
    ['behind a proxy in IPv6 form', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['behind a proxy of the same link', 'fe80::1%eth0', '198.51.100.7', '198.51.100.7'],
    ['behind several proxies', '10.0.0.1', '198.51.100.7, 10.0.0.3:443,[2001:db8:ffff::2]:443', '198.51.100.7'],
    ['that invents entries', '10.0.0.1', '203.0.113.1, 198.51.100.7', '198.51.100.7'],
    ['that invents a trusted entry', '10.0.0.1', '10.0.0.9, 198.51.100.7', '198.51.100.7'],
    ['that is not known', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['that is hidden', '10.0.0.1', '203.0.113.1, _hidden, 10.0.0.2', '10.0.0.2'],
    ['whose proxy sends no address', '10.0.0.1', undefined, '10.0.0.1'],
    ['whose proxy sends empty entries', '10.0.0.1', '198.51.100.7, ,', '198.51.100.7'],
    ['of several fields', '10.0.0.1', ['203.0.113.1', '198.51.100.7'], '198.51.100.7'],
    ['that is a proxy itself', '10.0.0.1', '10.0.0.4, 10.0.0.3', '10.0.0.4'],
  ])('%s', (_client, peer, forwardedFor, expected) => {
    expect(addresses.of(peer, forwardedFor)).toBe(expected);
  });

  it('is not known after the connection ended', () => {
    expect(addresses.of(undefined, '198.51.100.7')).toBeNull();
  });

  it('is that of the connection where no proxy is trusted', () => {
    const untrusting = createClientAddresses([]);
    expect(untrusting.of('10.0.0.1', '198.51.100.7')).toBe('10.0.0.1');
    expect(untrusting.isProxy('10.0.0.1')).toBe(false);
  });
});
