import { isIP } from 'node:net';
import { ipBytes } from './ip-bytes.js';

/**
 * Validates an IP address or a CIDR range with zero host bits, the format of PostgreSQL's `cidr`.
 * An IPv4 address in IPv6 form is invalid, because clients are identified by their IPv4 addresses,
 * whatever form a socket reports.
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
