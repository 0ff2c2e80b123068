import { BlockList, isIP } from 'node:net';
import { ipBytes } from './ip-bytes.js';

/**
 * Whether a browser's origin is in a site's list. Compared as browsers write it (RFC 6454 §6.1): scheme, host, and a port that is not the
 * default one.
 * @param allowed empty: every origin
 */
export function isOriginAllowed(allowed: readonly string[], origin: string): boolean {
  return allowed.length === 0 || allowed.includes(origin);
}

/** Answers whether an address lies in a site's list of CIDRs. */
export type AddressCheck = (allowed: readonly string[], address: string) => boolean;

/**
 * Lists are compiled once for as long as they live. An empty list allows every address; a network that cannot be read allows none. IPv4 addresses
 * in IPv6 form are IPv4 addresses, in the list and in requests.
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
    const plain = unmapped(address);
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

/** An IPv4 address that stands in IPv6 form (RFC 4291 §2.5.5.2), as dual-stack sockets write it. */
function unmapped(address: string): string {
  const bytes = isIP(address) === 6 ? ipBytes(address) : null;
  return bytes?.length === 4 ? bytes.join('.') : address;
}
