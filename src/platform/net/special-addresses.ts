import { createAddressCheck } from './allow-lists.js';
import { ipBytes } from './ip-bytes.js';

/**
 * Every network that a tenant may not lead the service to, and that has no country. The names of the
 * registries of IANA:
 *
 * - *special IPv4*: https://www.iana.org/assignments/iana-ipv4-special-registry
 * - *special IPv6*: https://www.iana.org/assignments/iana-ipv6-special-registry
 * - *IPv6 space*: https://www.iana.org/assignments/ipv6-address-space; global unicast addresses are
 *   allocated from 2000::/3 only
 *
 * The list has every network of the special registries that is not globally reachable, deprecated or
 * translated. The others (AS112, AMT) are ordinary public networks.
 */
const SPECIAL_NETWORKS: readonly (readonly [network: string, source: string])[] = [
  ['0.0.0.0/8', 'special IPv4: this network'],
  ['10.0.0.0/8', 'special IPv4: private use'],
  ['100.64.0.0/10', 'special IPv4: shared address space'],
  ['127.0.0.0/8', 'special IPv4: loopback'],
  ['168.63.129.16/32', 'the platform of Azure, reachable from its machines only; in no registry'],
  ['169.254.0.0/16', 'special IPv4: link local, also the metadata of cloud platforms'],
  ['172.16.0.0/12', 'special IPv4: private use'],
  ['192.0.0.0/24', 'special IPv4: protocol assignments'],
  ['192.0.2.0/24', 'special IPv4: documentation'],
  ['192.88.99.0/24', 'special IPv4: relays of 6to4, deprecated'],
  ['192.168.0.0/16', 'special IPv4: private use'],
  ['198.18.0.0/15', 'special IPv4: benchmarking'],
  ['198.51.100.0/24', 'special IPv4: documentation'],
  ['203.0.113.0/24', 'special IPv4: documentation'],
  ['224.0.0.0/4', 'multicast (RFC 5771)'],
  ['240.0.0.0/4', 'special IPv4: reserved, and limited broadcast'],
  [
    '::/3',
    'IPv6 space: unspecified, loopback, IPv4-compatible ::/96, local NAT64 64:ff9b:1::/48, discard-only 100::/64; public IPv4 addresses below 64:ff9b::/96 are excepted',
  ],
  ['2001::/23', 'special IPv6: protocol assignments, with Teredo 2001::/32, benchmarking and ORCHID'],
  ['2001:db8::/32', 'special IPv6: documentation'],
  ['2002::/16', 'special IPv6: 6to4'],
  ['3fff::/20', 'special IPv6: documentation'],
  ['4000::/2', 'IPv6 space: not allocated, with segment routing 5f00::/16'],
  [
    '8000::/1',
    'IPv6 space: not allocated, unique local fc00::/7, link local fe80::/10, site local fec0::/10, multicast ff00::/8',
  ],
];
/** Apart, because Node looks for an IPv4 address in IPv6 networks, too, as one in IPv6 form. */
const IPV4_NETWORKS = SPECIAL_NETWORKS.flatMap(([network]) => (network.includes(':') ? [] : [network]));
const IPV6_NETWORKS = SPECIAL_NETWORKS.flatMap(([network]) => (network.includes(':') ? [network] : []));

/** 64:ff9b::/96 */
const NAT64_PREFIX: readonly number[] = [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

const isIn = createAddressCheck();

/**
 * Returns whether an address is private, local, reserved, for documentation or multicast, or is translated
 * to an address that is.
 */
export function isSpecialAddress(address: string): boolean {
  const bytes = ipBytes(address);
  if (bytes === null) return false;
  const ipv4 = bytes.length === 4 ? bytes : translated(bytes);
  return ipv4 === null ? isIn(IPV6_NETWORKS, address.split('%')[0] ?? '') : isIn(IPV4_NETWORKS, ipv4.join('.'));
}

/** The IPv4 address to which a gateway translates an address of the well-known NAT64 prefix (RFC 6052). */
function translated(bytes: Uint8Array): Uint8Array | null {
  return NAT64_PREFIX.every((byte, place) => bytes[place] === byte) ? bytes.subarray(12) : null;
}
