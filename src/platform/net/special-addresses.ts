import { createAddressCheck } from './allow-lists.js';
import { ipBytes } from './ip-bytes.js';

/**
 * Networks without a country (IANA special-purpose address registries, RFC 6890; multicast, RFC
 * 5771 and RFC 4291).
 */
const SPECIAL_NETWORKS: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/127', '100::/64', '2001:2::/48', '2001:db8::/32', '3fff::/20', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
];

/** 64:ff9b::/96 */
const NAT64_PREFIX: readonly number[] = [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

const isIn = createAddressCheck();

/**
 * Returns whether an address is private, local, for documentation or multicast, or leads to such an
 * IPv4 address.
 */
export function isSpecialAddress(address: string): boolean {
  const plain = address.split('%')[0] ?? '';
  const embedded = embeddedIpv4(plain);
  return isIn(SPECIAL_NETWORKS, plain) || (embedded !== null && isIn(SPECIAL_NETWORKS, embedded));
}

/** The IPv4 address to which a gateway translates an address of NAT64 (RFC 6052) or 6to4 (RFC 3056). */
function embeddedIpv4(address: string): string | null {
  const bytes = ipBytes(address);
  if (bytes?.length !== 16) return null;
  if (NAT64_PREFIX.every((byte, place) => bytes[place] === byte)) return bytes.subarray(12).join('.');
  return bytes[0] === 0x20 && bytes[1] === 0x02 ? bytes.subarray(2, 6).join('.') : null;
}
