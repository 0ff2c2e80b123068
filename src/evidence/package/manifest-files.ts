import { sign } from 'node:crypto';
import * as z from 'zod';
import { toBase64url, utf8 } from '../../../schemas/crypto/encoding.js';
import { manifestKeyText } from '../../../schemas/evidence/checkpoint.js';
import { isReceipt, Manifest, ManifestSignatureHeader } from '../../../schemas/evidence/manifest.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import { type LedgerSigner, verifierKeyOf } from '../../pipeline/ledger/ledger-signer.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring, SigningKey } from '../../platform/keys/index.js';
import { ExportFailed } from './errors.js';

/**
 * Encodes `manifest.json`. In a package it has one file per line, so that `sed` and `sha256sum` can read it; in a
 * receipt it has no white space.
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

export interface ManifestCertificateOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly keyring: Pick<Keyring, 'manifestKey'>;
  /** Has the keys of the ledger, which certify the manifest key. */
  readonly signer: LedgerSigner;
}

/**
 * Certifies the manifest key with both keys of the ledger, unless a certificate exists. Call it at start,
 * and after a rotation of either key.
 * @returns the certificate: a signed note
 * @throws KeyError, database errors; the errors of `LedgerSigner`
 */
export async function ensureManifestCertificate({ db, keyring, signer }: ManifestCertificateOptions): Promise<string> {
  const manifestKey = await keyring.manifestKey();
  const text = manifestKeyText(signer.origin, manifestKey.publicKeyBytes);
  const certificate = formatNote(text, [await signer.signText(text), await signer.signTextMlDsa(text)]);
  await db.query(
    `insert into manifest_certificates (manifest_key, ledger_key, certificate) values ($1, $2, $3)
     on conflict (manifest_key, ledger_key) do nothing`,
    [manifestKey.publicKeyBytes, verifierKeyOf(signer), certificate],
  );
  return certificate;
}

/**
 * Finds the certificate of a manifest key by the ledger key in force at the package's checkpoint. That is the newest
 * key that signed a checkpoint of at most this size. Verifiers refuse a certificate by a key that was already replaced.
 * @param size size of the package's checkpoint, or null if there is none
 * @throws ExportFailed `manifest-key-not-certified`
 */
export async function findManifestCertificate(
  db: Queryable,
  manifestKey: Uint8Array,
  size: number | null,
): Promise<string> {
  const { rows } = await db.query(
    `with in_force as (
       select key from ledger_keys where handover_size is null or handover_size <= $2 order by handover_size desc nulls last limit 1
     )
     select certificate from manifest_certificates
      where manifest_key = $1 and (ledger_key = (select key from in_force) or not exists (select from ledger_keys))
      order by created_at desc limit 1`,
    [manifestKey, size ?? 0],
  );
  const [row] = z.array(z.object({ certificate: z.string() })).parse(rows);
  if (row !== undefined) return row.certificate;
  throw new ExportFailed(
    'manifest-key-not-certified',
    'The ledger key has not certified the key that signs packages yet. Start a worker or serve once.',
  );
}
