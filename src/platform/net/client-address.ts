import { isIP } from 'node:net';
import { createAddressCheck } from './allow-lists.js';
import { unmapped } from './ip-bytes.js';

/** Finds the addresses of clients that connect directly or through proxies. */
export interface ClientAddresses {
  /** Returns whether the peer of a connection is a trusted proxy. @param peer address of the socket */
  isProxy(peer: string | undefined): boolean;
  /**
   * Returns the address of the client: the last one that a trusted proxy vouches for. An entry that
   * is no address (`unknown`, `_hidden`, an empty quotation) ends the list, so that the address of
   * the proxy that wrote it counts.
   * @param peer address of the socket; undefined if the connection has ended
   * @param forwardedFor values of `X-Forwarded-For`; undefined without one
   * @returns null if the peer has no address
   */
  of(peer: string | undefined, forwardedFor: string | readonly string[] | undefined): string | null;
}

/** @param trustedProxies addresses and CIDR ranges; empty: no proxy is trusted */
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

/** Longer than every address with its port and zone. It bounds the work for a header of the client. */
const MAX_LENGTH = 100;

/**
 * Reads an address as proxies write it: with or without a port, brackets, quotation marks (RFC 7239
 * §6) and an IPv6 zone (RFC 4007 §11), which has a meaning on the proxy's machine only.
 * @returns the address alone, IPv6 in its short form (RFC 5952), an IPv4 address in IPv6 form as the
 *   IPv4 address; null for any other text
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
