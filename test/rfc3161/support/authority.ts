import type { TimestampCheckId, TimestampInput, TimestampReport } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import {
  CA_EXTENSIONS,
  type CertificateOptions,
  makeCertificate,
  subjectKeyIdentifier,
  type TestCertificate,
  TSA_EXTENSIONS,
} from './certificates.js';
import { ecdsaSigner, type Signer } from './keys.js';
import { DATA, makeToken, type TokenOptions } from './tokens.js';

/** A root, and the certificate of a time stamp authority that it issued. */
export interface Authority {
  readonly root: TestCertificate;
  readonly tsa: TestCertificate;
}

export const AT = new Date('2026-06-01T00:00:00Z');

export function makeAuthority(
  signer: Signer = ecdsaSigner('P-256', 'sha256'),
  tsaOptions: Partial<CertificateOptions> = {},
): Authority {
  const root = makeCertificate({ name: 'Test Root', extensions: CA_EXTENSIONS });
  return { root, tsa: makeTsa(root, signer, tsaOptions) };
}

export function makeTsa(
  issuer: TestCertificate,
  signer: Signer = ecdsaSigner('P-256', 'sha256'),
  options: Partial<CertificateOptions> = {},
): TestCertificate {
  return makeCertificate({ name: 'Test TSA', issuer, signer, extensions: TSA_EXTENSIONS, ...options });
}

/** The extensions of a good authority, with its key identifier. */
export function tsaExtensionsWithKeyIdentifier(identifier: Uint8Array): Uint8Array[] {
  return [...TSA_EXTENSIONS, subjectKeyIdentifier(identifier)];
}

/**
 * Verifies with the authority's root as the only anchor, and a time of verification shortly after
 * the stamp.
 */
export function verify(
  { root }: { readonly root: TestCertificate },
  token: Uint8Array,
  input: Partial<TimestampInput> = {},
): Promise<TimestampReport> {
  return verifyTimestamp({
    token,
    stamped: { data: DATA },
    trustAnchors: [root.der],
    revocation: 'require',
    at: AT,
    ...input,
  });
}

export function verifyMade(authority: Authority, options: TokenOptions, input: Partial<TimestampInput> = {}) {
  return verify(authority, makeToken(authority.tsa, options), input);
}

/** `{id: outcome}` of the checks that did not pass. */
export function failures({ checks }: TimestampReport): Partial<Record<TimestampCheckId, string>> {
  const bad = checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate');
  return Object.fromEntries(bad.map(({ id, outcome }) => [id, outcome]));
}
