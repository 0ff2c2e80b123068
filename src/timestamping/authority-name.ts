import { DEVELOPMENT_MARK } from './development-tsa/marking.js';

/** What the development authority is called: its address says nothing, and changes. */
export const DEVELOPMENT_AUTHORITY = 'development';

/**
 * SQL: whether a development authority stamped a checkpoint. The mark stands in its certificates.
 * @param checkpoint alias of the row of `checkpoints`
 */
export function isDevelopmentStamp(checkpoint: 'c' | 'p'): string {
  return `exists (select from timestamp_evidence e
                   where e.sha256 = any(${checkpoint}.certificates) and e.kind = 'certificate'
                     and position(convert_to('${DEVELOPMENT_MARK}', 'UTF8') in e.bytes) > 0)`;
}

/** The authority of a stamp as people are shown it. */
export function stampedBy(stamp: { readonly authority: string; readonly is_development: boolean }): string {
  return stamp.is_development ? DEVELOPMENT_AUTHORITY : authorityName(stamp.authority);
}

/** A configured authority as people are shown it: its host. The rest of a URL may hold a secret. */
export function authorityName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown';
}
