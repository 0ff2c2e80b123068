import { createAddressCheck } from './allow-lists.js';

/**
 * Networks without a country (IANA special-purpose address registries, RFC 6890; multicast, RFC
 * 5771 and RFC 4291).
 */
const SPECIAL_NETWORKS: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/127', '100::/64', '2001:2::/48', '2001:db8::/32', '3fff::/20', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
];

const isIn = createAddressCheck();

/** Returns whether an address is private, local, for documentation or multicast. */
export function isSpecialAddress(address: string): boolean {
  return isIn(SPECIAL_NETWORKS, address.split('%')[0] ?? '');
}
