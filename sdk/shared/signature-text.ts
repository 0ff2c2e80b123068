/** The parts of a request that its signature covers. */
export interface SignedParts {
  /** Upper case. */
  readonly method: string;
  /** Path with `/tool/v1`, without the query. */
  readonly path: string;
  /** Unix time in seconds. */
  readonly timestamp: string;
  readonly nonce: string;
  /** Lower-case hex SHA-256 of the exact bytes of the body. */
  readonly bodyHash: string;
}

/**
 * Returns the text that is signed with HMAC-SHA256 and the API key (specification, "Request
 * signature", rule 2).
 */
export function signatureText({ method, path, timestamp, nonce, bodyHash }: SignedParts): string {
  return [method, path, timestamp, nonce, bodyHash].join('\n');
}
