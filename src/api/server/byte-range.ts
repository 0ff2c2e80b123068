import type { ByteRange } from '../../evidence/exports/read-package.js';

/** The requested part: the whole, a range, or an unsatisfiable range. */
export type RangeAnswer = 'whole' | 'unsatisfiable' | ByteRange;

/**
 * Parses a Range header with one range (RFC 9110 §14.1.2): `bytes=0-99`, `bytes=100-`, `bytes=-50`.
 * Malformed headers and several ranges are ignored, as the RFC permits.
 * @param ifRange header If-Range: another entity tag than `etag` selects the whole
 * @param size bytes of the whole
 */
export function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  etag: string,
  size: number,
): RangeAnswer {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return 'whole';
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
