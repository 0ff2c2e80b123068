import { ipBytes } from './ip-bytes.js';

/** Bits of an address that name a network: the smallest part that routers announce to each other. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 };

/**
 * The client for which limits by address count: an IPv4 address, or the network of an IPv6 address,
 * because one client usually has all addresses of its network. An IPv4 address in IPv6 form counts
 * as the IPv4 address.
 * @param ipv6PrefixBits length of the network's prefix in bits, 0 to 128
 * @returns a key that is the same exactly for the same client; the text itself if it is no address
 */
export function countedClient(address: string, ipv6PrefixBits: number): string {
  return prefixOf(address, { ipv4: 32, ipv6: ipv6PrefixBits });
}

/**
 * The network for which limits count where one party with many addresses must not pass as many
 * parties: IPv4 /24, IPv6 /48.
 * @returns a key that is the same exactly for the same network; the text itself if it is no address
 */
export function countedNetwork(address: string): string {
  return prefixOf(address, NETWORK_BITS);
}

function prefixOf(address: string, prefix: { readonly ipv4: number; readonly ipv6: number }): string {
  const bytes = ipBytes(address);
  if (bytes === null) return address;
  const bits = bytes.length === 4 ? prefix.ipv4 : prefix.ipv6;
  const network = bytes.map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - bits))));
  return Buffer.from(network).toString('hex');
}
