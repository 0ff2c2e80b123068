import { DEVELOPMENT_MARK } from './development-tsa/marking.js';

/** Display name of the development authority, whose address is meaningless and changes. */
export const DEVELOPMENT_AUTHORITY = 'development';

/**
 * SQL condition: a development authority stamped a checkpoint. The certificates of such an
 * authority contain a mark.
 * @param checkpoint alias of the row of `checkpoints`
 */
export function isDevelopmentStamp(checkpoint: 'c' | 'p'): string {
  return `exists (select from kept_evidence e
                   where e.sha256 = any(${checkpoint}.certificates) and e.kind = 'certificate'
                     and position(convert_to('${DEVELOPMENT_MARK}', 'UTF8') in e.bytes) > 0)`;
}

/** Display names of the authorities of a checkpoint. */
export function stampedBy(stamp: {
  readonly authorities: readonly string[];
  readonly is_development: boolean;
}): string[] {
  return stamp.is_development ? [DEVELOPMENT_AUTHORITY] : stamp.authorities.map(authorityName);
}

/**
 * Display name of a configured authority: its host only, because the rest of a URL may contain a
 * secret.
 */
export function authorityName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown';
}
