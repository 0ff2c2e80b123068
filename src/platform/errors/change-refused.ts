/** Why the catalogue refuses a change. */
export type CatalogueErrorCode = 'not_found' | 'already_exists' | 'wrong_state' | 'invalid';

/** A change of the catalogue that cannot be made. `message` is for whoever asked for it, and says what to do. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
  constructor(
    readonly code: CatalogueErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
