import { BlockList, isIP } from 'node:net';

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

/** Lists are compiled once for as long as they live. An empty list allows every address; one that cannot be read allows none. */
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
    if (version === 0) continue;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** An IPv4 address that a dual-stack socket wrote as IPv6. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
