/** Codes of Node.js for a certificate of the server that cannot be verified. */
const CODES: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * Returns what to write in `DATABASE_URL` if the certificate of the server was refused; null for any other
 * error. libpq verifies nothing with `sslmode=require`, so that a connection string that works with `psql`
 * can fail here.
 */
export function certificateHint(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!CODES.has(code)) return null;
  return (
    'The service verifies the certificate of the server also with sslmode=require, with which libpq only encrypts. ' +
    'Name the file of the authority that issued it in DATABASE_URL: sslmode=verify-full&sslrootcert=/path/root.crt, and ' +
    'connect by a name that is in the certificate. To encrypt without any verification, write sslmode=no-verify.'
  );
}
