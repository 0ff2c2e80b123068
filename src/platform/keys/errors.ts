export type KeyErrorCode =
  | 'master_key_unreadable'
  | 'wrong_master_key'
  | 'unwrap_failed'
  | 'key_missing'
  | 'decrypt_failed';

/** A key is unavailable or wrong. `message` tells the operator what to do and contains no key. */
export class KeyError extends Error {
  override readonly name = 'KeyError';

  constructor(
    readonly code: KeyErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
