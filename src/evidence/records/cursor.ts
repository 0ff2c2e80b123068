import { RequestRefused } from '../../platform/errors.js';

/** Callers return cursors unchanged. The version allows the content to change. */
const VERSION = 'v1';

/**
 * The cursor after a revision of the site's stream. It grants no access: every query is limited to
 * the caller's site.
 */
export function cursorBehind(revision: number): string {
  return Buffer.from(`${VERSION}:${revision}`).toString('base64url');
}

/**
 * Parses a cursor.
 * @returns the revision after which the list continues
 * @throws RequestRefused VALIDATION_ERROR
 */
export function revisionOfCursor(cursor: string): number {
  const [, digits] = /^v1:(0|[1-9]\d{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const revision = Number(digits);
  if (!Number.isSafeInteger(revision) || cursorBehind(revision) !== cursor) {
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field: 'cursor', message: 'must be a cursor from an earlier response' }],
    });
  }
  return revision;
}
