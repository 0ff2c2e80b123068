import { type Authority, makeAuthority, makeTsa, tsaExtensionsWithKeyIdentifier } from '../support/authority.js';
import {
  CA_EXTENSIONS,
  crlDistributionPoint,
  extendedKeyUsage,
  extension,
  keyIdentifierOf,
  keyUsage,
  makeCertificate,
  SERVER_AUTH,
  TIME_STAMPING,
  TSA_EXTENSIONS,
} from '../support/certificates.js';
import { context, integer, join } from '../support/der.js';
import { ecdsaSigner, ed25519Signer, pssSigner, rsaSigner } from '../support/keys.js';
import { makeResponse, makeToken, type TokenOptions } from '../support/tokens.js';

export interface JudgedCase {
  readonly name: string;
  readonly authority: Pick<Authority, 'root'>;
  readonly response: Uint8Array;
}

/** The tokens that every judge is asked about. */
export function judgedCases(): readonly JudgedCase[] {
  const authority = makeAuthority();
  const { root } = authority;
  const by = (name: string, made: Authority, options: TokenOptions = {}): JudgedCase => ({
    name,
    authority: made,
    response: makeResponse(makeToken(made.tsa, options)),
  });
  const own = (name: string, options: TokenOptions) => by(name, authority, options);
  const signer = (name: string, extensions: readonly Uint8Array[]) =>
    by(name, { root, tsa: makeTsa(root, undefined, { extensions }) });
  const key = ecdsaSigner('P-256', 'sha256');
  const named = { root, tsa: makeTsa(root, key, { extensions: tsaExtensionsWithKeyIdentifier(keyIdentifierOf(key)) }) };
  const intermediate = makeCertificate({ name: 'Between', issuer: root, extensions: CA_EXTENSIONS });
  const below = makeTsa(intermediate);
  const expired = makeTsa(root, undefined, { notAfter: new Date('2026-01-01T00:00:00Z') });
  const later = makeTsa(root, undefined, { notAfter: new Date('2026-03-05T00:00:00Z') });
  return [
    by('RSA PKCS#1 v1.5', makeAuthority(rsaSigner())),
    by('RSA-PSS', makeAuthority(pssSigner())),
    by('P-256', authority),
    by('P-384', makeAuthority(ecdsaSigner('P-384', 'sha384'))),
    by('P-521', makeAuthority(ecdsaSigner('P-521', 'sha512'))),
    by('Ed25519', makeAuthority(ed25519Signer())),
    own('BER with indefinite lengths', { ber: true }),
    own('microseconds', { genTime: '20260304050607.123456Z' }),
    own('ESS v1', { ess: 'v1' }),
    own('ESS v1 and v2', { ess: 'both' }),
    own('ESS v2 by SHA-512', { ess: 'v2-sha512' }),
    own('ESS without issuer and serial', { essIssuerSerial: false }),
    by('a signer named by key identifier', named, { sid: 'key-identifier' }),
    own('an imprint by SHA-512', { imprintHash: 'sha512' }),
    own('an imprint by SHA3-256', { imprintHash: 'sha3-256' }),
    own('an imprint by SHA-1', { imprintHash: 'sha1' }),
    own('an imprint by MD5', { imprintHash: 'md5' }),
    own('unsorted attributes, signed as they stand', { signedAttributes: 'unsorted' }),
    own('unsorted attributes, signed in order', { signedAttributes: 'unsorted-but-signed-sorted' }),
    by('an intermediate in the token', { root, tsa: below }, { certificates: [below.der, intermediate.der] }),
    by('an authority that expired after the stamp', { root, tsa: later }),
    own('other data', { data: new Uint8Array(1) }),
    own('version 2', { version: 2 }),
    own('two signers', { signers: 2 }),
    own('a wrong message digest', { wrongMessageDigest: true }),
    own('stripped attributes', { signedAttributes: 'none' }),
    own('no ESS attribute', { ess: 'none' }),
    own('an ESS hash of another certificate', { essCertificate: makeTsa(root) }),
    own('another content type', { contentType: '1.2.840.113549.1.7.1' }),
    own('a tsa name that is not the certificate’s', { tsaName: context(4, root.name) }),
    own('a critical extension of the TSTInfo', { tstExtensions: [extension('1.2.3', true, integer(1))] }),
    own('no certificate in the token', { certificates: [] }),
    signer('an EKU that is not critical', [extendedKeyUsage(false, TIME_STAMPING), keyUsage(0)]),
    signer('a further purpose', [extendedKeyUsage(true, TIME_STAMPING, SERVER_AUTH), keyUsage(0)]),
    signer('no EKU', [keyUsage(0)]),
    signer('a CA that stamps', [...CA_EXTENSIONS, extendedKeyUsage(true, TIME_STAMPING)]),
    signer('an unknown critical extension of the certificate', [
      ...TSA_EXTENSIONS,
      extension('1.2.3', true, integer(1)),
    ]),
    signer('a source of revocations, and no answer', [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/a')]),
    by('an authority that had expired', { root, tsa: expired }),
    by('another root', { root: makeAuthority().root, tsa: authority.tsa }),
    { name: 'a refusal with a token', authority, response: makeResponse(makeToken(authority.tsa), 2) },
    {
      name: 'bytes behind the response',
      authority,
      response: join(makeResponse(makeToken(authority.tsa)), new Uint8Array(1)),
    },
  ];
}
