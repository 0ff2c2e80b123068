import type { ByteRange } from '../../evidence/exports/read-package.js';

/** What a request asks for: the whole, a part, or a part that there is not. */
export type RangeAnswer = 'whole' | 'unsatisfiable' | ByteRange;

/**
 * Reads a Range header (RFC 9110 §14.1.2) of one range: `bytes=0-99`, `bytes=100-`, `bytes=-50`.
 * What is none, or names several, is ignored, as a server may.
 * @param ifRange of the header If-Range: another entity tag than `etag` gets the whole
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
