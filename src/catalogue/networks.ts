import { isIP } from 'node:net';
import { ipBytes } from '../regions/ip-bytes.js';

/** Whether a text is an address, or a range whose host bits are zero: what PostgreSQL's `cidr` takes. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix] = text.split('/');
  if (isIP(address) === 0) return false;
  if (prefix === undefined) return true;
  const bytes = isIP(address) === 4 ? ipBytes(address) : ipv6Bytes(address);
  return bytes !== null && hostBits(bytes, Number(prefix)).every((bit) => bit === 0);
}

/** An IPv4 address in IPv6 form keeps its sixteen bytes: the prefix counts from their start. */
function ipv6Bytes(address: string): Uint8Array | null {
  const bytes = ipBytes(address);
  if (bytes === null || bytes.length === 16) return bytes;
  return Uint8Array.of(...new Uint8Array(10), 0xff, 0xff, ...bytes);
}

function hostBits(bytes: Uint8Array, prefix: number): number[] {
  const bits = [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, index) => (byte >> (7 - index)) & 1));
  return bits.slice(prefix);
}
