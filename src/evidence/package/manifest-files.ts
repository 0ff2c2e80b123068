import { sign } from 'node:crypto';
import { toBase64url, utf8 } from '../../../schemas/crypto/encoding.js';
import { isReceipt, Manifest, ManifestSignatureHeader } from '../../../schemas/evidence/manifest.js';
import type { SigningKey } from '../../platform/keys/index.js';
import { ExportFailed } from './errors.js';

/**
 * Encodes `manifest.json`: in a package with one file per line, so that `sed` and `sha256sum` can read it;
 * in a receipt without white space.
 * @throws ExportFailed `too-large`
 */
export function manifestBytes(manifest: Manifest): Uint8Array {
  const parsed = Manifest.safeParse(manifest);
  if (!parsed.success) {
    throw new ExportFailed(
      'too-large',
      'The package would have more files than the format allows. Choose a shorter time range.',
    );
  }
  return utf8(`${JSON.stringify(manifest, null, isReceipt(manifest) ? 0 : 2)}\n`);
}

/**
 * Makes `manifest.json.jws`: a detached JWS over the manifest's bytes (RFC 7515 appendix F, RFC
 * 8037).
 * @param certificate the ledger key's certificate of `key`
 */
export function manifestSignature(manifest: Uint8Array, key: SigningKey, certificate: string): Uint8Array {
  const header: ManifestSignatureHeader = ManifestSignatureHeader.parse({
    alg: 'EdDSA',
    typ: 'consent-ledger-manifest',
    jwk: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(key.publicKeyBytes) },
    certificate,
  });
  const encodedHeader = toBase64url(utf8(JSON.stringify(header)));
  const signature = sign(null, utf8(`${encodedHeader}.${toBase64url(manifest)}`), key.privateKey);
  return utf8(`${encodedHeader}..${toBase64url(signature)}\n`);
}
