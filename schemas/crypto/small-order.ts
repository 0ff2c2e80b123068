/** The y of a point of order 8 on edwards25519; its negative is the other one. */
const ORDER_EIGHT = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;

const CURVES = { ed25519: curve(2n ** 255n - 19n, [ORDER_EIGHT]), ed448: curve(2n ** 448n - 2n ** 224n - 1n, []) };

/**
 * Returns whether a point is of small order. With such a key, or such a first half, a signature proves nothing about
 * its text. RFC 8032 permits them, and versions of OpenSSL and Node disagree about them. All of our programs refuse
 * them, so that a verdict does not depend on the machine.
 * @param encoded the point as RFC 8032 §5.1.2 or §5.2.2 has it, canonical or not
 */
export function hasSmallOrder(name: keyof typeof CURVES, encoded: Uint8Array): boolean {
  const { prime, small } = CURVES[name];
  const y = encoded.reduceRight((value, octet, at) => {
    const isLast = at === encoded.length - 1;
    return (value << 8n) | BigInt(isLast ? octet & 0x7f : octet);
  }, 0n);
  return small.has(y % prime);
}

/** A curve's field (RFC 7748 §4), and the y coordinates of its points of small order. */
function curve(
  prime: bigint,
  more: readonly bigint[],
): { readonly prime: bigint; readonly small: ReadonlySet<bigint> } {
  return { prime, small: new Set([0n, 1n, prime - 1n, ...more.flatMap((y) => [y, prime - y])]) };
}
