import { BlockList, isIP } from 'node:net';
import { unmapped } from './ip-bytes.js';

/**
 * Returns whether a browser's origin is in a site's list. The comparison follows the form that
 * browsers send (RFC 6454 §6.1): scheme, host, and a port only if it is not the default.
 * @param allowed empty: every origin
 */
export function isOriginAllowed(allowed: readonly string[], origin: string): boolean {
  return allowed.length === 0 || allowed.includes(origin);
}

/**
 * Returns whether a browser's origin is that of a domain or of a subdomain, over TLS.
 * @param domain without a port, in lower case
 */
export function isOriginOf(domain: string, origin: string): boolean {
  const host = /^https:\/\/([a-z0-9.-]+)(?::\d+)?$/.exec(origin)?.[1];
  return host !== undefined && (host === domain || host.endsWith(`.${domain}`));
}

/** Returns whether an address is in a site's list of CIDR ranges. @param address null: not known */
export type AddressCheck = (allowed: readonly string[], address: string | null) => boolean;

/**
 * Creates a check that compiles each list once for the lifetime of the list. An empty list allows
 * every address. An invalid network matches no address. IPv4 addresses in IPv6 form count as IPv4
 * addresses, in the list and in requests.
 */
export function createAddressCheck(): AddressCheck {
  const compiled = new WeakMap<readonly string[], BlockList>();
  return (allowed, address) => {
    if (allowed.length === 0) return true;
    let list = compiled.get(allowed);
    if (list === undefined) {
      list = compile(allowed);
      compiled.set(allowed, list);
    }
    const plain = unmapped(address ?? '');
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

function compile(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [text = '', prefix] = network.split('/');
    const address = unmapped(text);
    const version = isIP(address);
    const bits = version === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : Number(prefix) - (isIP(text) === 6 ? 128 - bits : 0);
    if (version === 0 || !Number.isInteger(length) || length < 0 || length > bits) continue;
    list.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
