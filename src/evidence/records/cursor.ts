import { RequestRefused } from '../../platform/errors/request-refused.js';

/** Callers hand cursors back as they got them; what is in one may change with its version. */
const VERSION = 'v1';

/** The cursor behind a revision of the site's stream. It opens nothing: every export is of the caller's own site whatever it says. */
export function cursorBehind(revision: number): string {
  return Buffer.from(`${VERSION}:${revision}`).toString('base64url');
}

/**
 * @returns the revision behind which to go on
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
