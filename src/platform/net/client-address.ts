import { isIP } from 'node:net';
import { createAddressCheck, ipBytes, unmapped } from './addresses.js';

/** Finds the addresses of clients that connect directly or through proxies. */
export interface ClientAddresses {
  /** Returns whether the peer of a connection is a trusted proxy. @param peer address of the socket */
  isProxy(peer: string | undefined): boolean;
  /**
   * Returns the address of the client: the last one that a trusted proxy vouches for. An entry that is not an address
   * (`unknown`, `_hidden`, an empty quotation) ends the list; the address of the proxy that wrote it is then used.
   * @param peer address of the socket, or undefined if the connection has ended
   * @param forwardedFor values of `X-Forwarded-For`, or undefined if there is none
   * @returns null if the peer has no address
   */
  of(peer: string | undefined, forwardedFor: string | readonly string[] | undefined): string | null;
}

/** @param trustedProxies addresses and CIDR ranges; if it is empty, no proxy is trusted */
export function createClientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const isIn = createAddressCheck();
  const isTrusted = (address: string | null): boolean =>
    trustedProxies.length > 0 && address !== null && isIn(trustedProxies, address);
  return {
    isProxy: (peer) => isTrusted(forwardedAddress(peer ?? '')),
    of(peer, forwardedFor) {
      let client = forwardedAddress(peer ?? '');
      // Empty entries of a list do not count (RFC 9110 §5.6.1).
      const hops = [forwardedFor ?? []]
        .flat()
        .join()
        .split(',')
        .filter((hop) => hop.trim() !== '');
      while (isTrusted(client)) {
        const before = forwardedAddress(hops.pop() ?? '');
        if (before === null) break;
        client = before;
      }
      return client;
    },
  };
}

/** Longer than any address with port and zone. It limits the work for a header that the client sent. */
const MAX_LENGTH = 100;

/**
 * Reads an address as proxies write it: with or without a port, brackets, quotation marks (RFC 7239 §6) and an IPv6
 * zone (RFC 4007 §11), which has a meaning only on the proxy's machine.
 * @returns the address alone, IPv6 in its short form (RFC 5952), an IPv4 address in IPv6 form as the IPv4 address, or
 * null for any other text
 */
export function forwardedAddress(text: string): string | null {
  const entry = text.trim();
  if (entry.length > MAX_LENGTH) return null;
  const node = /^"(.*)"$/.exec(entry)?.[1]?.trim() ?? entry;
  const [, host = node] = /^(.*):(?:\d{0,5}|_[\w.-]+)$/.exec(node) ?? [];
  const bracketed = /^\[(.*)\]$/.exec(host)?.[1];
  // An IPv6 address without brackets can end like one with a port.
  const address = [node, bracketed ?? host].map(withoutZone).find((candidate) => isIP(candidate) !== 0);
  return address === undefined ? null : shortForm(address);
}

function withoutZone(address: string): string {
  const [plain = ''] = address.split('%', 1);
  return plain.includes(':') ? plain : address;
}

function shortForm(address: string): string {
  const plain = unmapped(address);
  return isIP(plain) === 6 ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : plain;
}

/** Bits of an address that identify a network: the smallest block that routers announce to each other. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 };

/**
 * Returns what limits by address treat as one client: an IPv4 address, or the network of an IPv6 address, because one
 * client usually has all addresses of its network. An IPv4 address in IPv6 form counts as the IPv4 address.
 * @param ipv6PrefixBits length of the network's prefix in bits, 0 to 128
 * @returns a key that is equal if and only if the client is the same; the text itself if it is not an address
 */
export function countedClient(address: string, ipv6PrefixBits: number): string {
  return prefixOf(address, { ipv4: 32, ipv6: ipv6PrefixBits });
}

/**
 * Returns the network of an address (IPv4 /24, IPv6 /48), for limits under which one party with many addresses must not
 * pass for many parties.
 * @returns a key that is equal if and only if the network is the same; the text itself if it is not an address
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
