import { expect, it } from 'vitest';
import { isSpecialAddress } from '../../../src/platform/net/addresses.js';

/** One address of each block of the registries of IANA that is not globally reachable, or deprecated. */
const SPECIAL = `
  0.0.0.0 0.1.2.3 10.255.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255
  192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
  :: ::1 ::7f00:1 ::10.0.0.1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:0:10.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe
  64:ff9b:1::1 64:ff9b:1:ffff::8.8.8.8 100::1 100:0:0:1::1 2001::1 2001:0:5ef5:79fd::1 2001:2::1 2001:10::1 2001:20::1
  2001:1ff::1 2001:db8::1 2002:0a00:0001::1 2002:808:808::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00::1
  fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 feff::1 ff02::1 ffff::1`
  .trim()
  .split(/\s+/);
const PUBLIC = `
  1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 168.63.129.15 168.63.129.17 172.15.0.1 172.32.0.1 192.0.1.1 192.175.48.1
  198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2001:200::1 2001:4860:4860::8888 2003::1
  2606:4700::1111 2620:4f:8000::1 2a00:1450::1 3ffe::1`
  .trim()
  .split(/\s+/);

it.each(SPECIAL)('refuses %s', (address) => expect(isSpecialAddress(address)).toBe(true));
it.each(PUBLIC)('does not refuse %s', (address) => expect(isSpecialAddress(address)).toBe(false));
