import type { Document } from '../../api/types.js';

/** Whether the banner can ask for consents to a document: without a cookie policy in force it does not appear. */
export function isPolicyInForce({ kind, active_versions }: Document): boolean {
  return kind === 'cookie_policy' && active_versions.length > 0;
}
