import { BlockList, isIP } from 'node:net';

/**
 * Returns the 4 or 16 bytes of an IP address. An IPv4 address in IPv6 form (`::ffff:…`) has 4.
 * @returns null for any other text
 */
export function ipBytes(text: string): Uint8Array | null {
  const address = text.split('%')[0] ?? '';
  const version = isIP(address);
  if (version === 0) return null;
  if (version === 4) return ipv4Bytes(address);
  const bytes = ipv6Bytes(address);
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.subarray(12) : bytes;
}

/**
 * Returns the IPv4 address of an IPv6 form (RFC 4291 §2.5.5.2), which dual-stack sockets report;
 * any other text as it is.
 */
export function unmapped(address: string): string {
  const bytes = isIP(address) === 6 ? ipBytes(address) : null;
  return bytes?.length === 4 ? bytes.join('.') : address;
}

function ipv4Bytes(address: string): Uint8Array {
  return Uint8Array.from(address.split('.'), Number);
}

/** @param address an IPv6 address according to `isIP` */
function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const bytes = new Uint8Array(16);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return [...ipv4Bytes(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/**
 * Returns whether a browser's origin is in a site's list. The comparison follows the form that
 * browsers send (RFC 6454 §6.1): scheme, host, and a port only if it is not the default.
 * @param allowed the permitted origins; an empty list permits every origin
 */
export function isOriginAllowed(allowed: readonly string[], origin: string): boolean {
  return allowed.length === 0 || allowed.includes(origin);
}

/**
 * Returns whether a browser's origin is that of a domain or of a subdomain, over TLS.
 * @param domain the domain in lower case, without a port
 */
export function isOriginOf(domain: string, origin: string): boolean {
  const host = /^https:\/\/([a-z0-9.-]+)(?::\d+)?$/.exec(origin)?.[1];
  return host !== undefined && (host === domain || host.endsWith(`.${domain}`));
}

/** Returns whether an address is in a site's list of CIDR ranges. @param address null if unknown */
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

/**
 * Every network that a tenant must not be able to direct the service to, and that has no country. The sources are
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
/** A separate list, because Node also matches an IPv4 address, in IPv6 form, against IPv6 networks. */
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

/**
 * Validates an IP address or a CIDR range with zero host bits, the format of PostgreSQL's `cidr`. An IPv4 address in
 * IPv6 form is invalid, because clients are identified by their IPv4 addresses in whatever form a socket reports them.
 * @returns the problem, or null for a valid text
 */
export function networkProblem(text: string): string | null {
  const [address = '', prefix] = text.split('/');
  const bytes = ipBytes(address);
  if (bytes === null) return `${text} is no address or range.`;
  if (isIP(address) === 6 && bytes.length === 4)
    return `${text} is an IPv4 address in IPv6 form: give the IPv4 address or range.`;
  if (prefix === undefined || hostBits(bytes, Number(prefix)).every((bit) => bit === 0)) return null;
  return `${text} is no range: the bits after its prefix must be zero, as in 192.0.2.0/24.`;
}

function hostBits(bytes: Uint8Array, prefix: number): number[] {
  const bits = [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, index) => (byte >> (7 - index)) & 1));
  return bits.slice(prefix);
}

const CONNECTION_STRING = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)((?:[/?#].*)?)$/is;

/**
 * Returns the connection strings of the single servers that a connection string names, in its order. A list
 * of hosts is written as for libpq: `postgresql://user@a:5432,b:5432/database`.
 */
export function addressesOf(url: string): readonly string[] {
  const parts = CONNECTION_STRING.exec(url);
  if (parts === null) return [url];
  const [, before = '', hosts = '', after = ''] = parts;
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}
