import { derValue } from '../../crypto/der.js';
import { concatBytes } from '../../crypto/encoding.js';
import { verifySignature } from '../../crypto/signature-verification.js';
import { hashOf, signatureSchemeOf } from '../algorithms.js';
import type { SignerInfo } from '../cms/signer-info.js';
import { attempt, MalformedInput } from '../errors.js';
import { check, type TimestampCheck } from '../report.js';
import { hashStrength, type Strength, signatureStrengths } from '../strength.js';
import type { Certificate } from '../x509/certificate.js';
import { allowsScheme } from '../x509/public-key.js';

/**
 * Verifies the signature over the signed attributes as a SET OF (RFC 5652 §5.4): first in the order in which they
 * appear, because some authorities sign them unsorted, then sorted as DER requires.
 */
export async function checkSignature(
  signer: SignerInfo,
  certificate: Certificate,
): Promise<{ check: TimestampCheck; strengths: Strength[] }> {
  const id = 'tst.signature';
  const made = (outcome: TimestampCheck['outcome'], message: string, strengths: Strength[] = []) => ({
    check: check(id, outcome, message),
    strengths,
  });
  if (signer.signedAttributes === undefined) return made('fail', 'the signed attributes are missing');
  const algorithms = attempt(() => {
    const digest = hashOf(signer.digestAlgorithm, 'digestAlgorithm');
    return { digest, scheme: signatureSchemeOf(signer.signatureAlgorithm, digest, 'signatureAlgorithm') };
  });
  if (algorithms instanceof MalformedInput) return made('fail', algorithms.message);
  const { digest, scheme } = algorithms;
  const { key } = certificate.publicKey;
  if (digest === undefined || scheme === undefined) {
    return made(
      'indeterminate',
      `this verifier does not support the signature algorithm ${signer.signatureAlgorithm.oid}`,
    );
  }
  if (key === undefined) return made('indeterminate', 'this verifier does not support the signer’s type of key');
  if ('hash' in scheme && scheme.hash !== digest) {
    return made('fail', 'the signature’s hash differs from the digest algorithm (RFC 8933)');
  }
  if (!allowsScheme(certificate.publicKey, scheme)) {
    return made('fail', 'the signer’s key is restricted to RSA-PSS, or to other parameters of it');
  }
  const strengths = [hashStrength(digest), ...signatureStrengths(scheme, key)];
  const raw = signer.signedAttributes.map((attribute) => attribute.raw);
  const orders = [
    { attributes: raw, label: '' },
    { attributes: [...raw].sort(compareOctets), label: ' (over the attributes in sorted order)' },
  ];
  for (const { attributes, label } of orders) {
    const outcome = await verifySignature(scheme, key, setOf(attributes), signer.signature);
    if (outcome === 'valid')
      return made('pass', `the authority’s signature is valid, ${scheme.kind}${label}`, strengths);
    if (outcome === 'unsupported') return made('indeterminate', `this verifier does not support ${scheme.kind}`);
  }
  return made('fail', 'the authority’s signature is invalid');
}

/** DER of a SET OF with these members. */
function setOf(members: readonly Uint8Array[]): Uint8Array {
  return derValue(0x31, concatBytes(...members));
}

function compareOctets(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
