/**
 * Codes for a malformed token, certificate, CRL or OCSP answer. Stable: reports and tests name
 * them.
 */
export type MalformedCode =
  | 'too-large'
  | 'too-deep'
  | 'too-many'
  | 'truncated'
  | 'trailing-bytes'
  | 'bad-tag'
  | 'bad-length'
  | 'bad-value'
  | 'missing-field'
  | 'unexpected-field'
  | 'contradiction';

/** Malformed bytes from outside. Every parser of this folder throws this and nothing else. */
export class MalformedInput extends Error {
  override readonly name = 'MalformedInput';
  constructor(
    readonly code: MalformedCode,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Runs a parser, and returns either the parsed value or the `MalformedInput` that it threw. Other exceptions propagate.
 */
export function attempt<T>(parse: () => T): T | MalformedInput {
  try {
    return parse();
  } catch (error) {
    if (error instanceof MalformedInput) return error;
    throw error;
  }
}
