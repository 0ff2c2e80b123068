/**
 * Counts units of work, so that hostile input cannot cost unlimited time. It may throw when there are too many; the
 * error propagates to the caller of the verification.
 */
export type SpendWork = (units: number) => void;

/**
 * The maximum number of units for a package, or for a token that is verified alone. They depend on its size alone, so
 * that the verdict does not depend on the machine (docs/evidence-format.md §14).
 */
export const WORK_LIMIT: WorkLimit = { fixed: 2_000_000_000, perByte: 1000 };

/** Units of work. */
export interface WorkLimit {
  readonly fixed: number;
  /** Units for each byte of the input. */
  readonly perByte: number;
}

/** Work without a bound, for input of a known source. */
export const UNBOUNDED_WORK: SpendWork = () => undefined;

/**
 * Units of work on tokens, certificates and the information about their revocation (docs/evidence-format.md §14).
 */
export const TOKEN_WORK = {
  /** Each byte of a token, certificate or OCSP response that is parsed. */
  asn1Byte: 64,
  /** Each byte of a CRL that is parsed, without its entries. */
  crlByte: 1,
  /** Each byte of a CRL in which a certificate is looked up. */
  crlLookupByte: 2,
  /** A signature that is verified, in addition to the bytes that it signs. */
  signature: 50_000,
  /** Each byte of a certificate whose names are compared with the constraints of another certificate. */
  namedByte: 64,
  /** A certificate that may be the issuer of another certificate. */
  candidate: 100,
} as const;
