import { isIP } from 'node:net';

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
