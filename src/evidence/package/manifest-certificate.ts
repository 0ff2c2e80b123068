import * as z from 'zod';
import { manifestKeyText } from '../../../schemas/evidence/checkpoint.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import { type LedgerSigner, verifierKeyOf } from '../../pipeline/ledger/ledger-signer.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import { ExportFailed } from './errors.js';

export interface ManifestCertificateOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly keyring: Pick<Keyring, 'manifestKey'>;
  /** With the key of the ledger that certifies. */
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
 * Finds the certificate of a manifest key by the ledger key in force at the package's checkpoint.
 * That is the newest key that signed a checkpoint up to it. Verifiers refuse a
 * certificate by a key that was replaced before.
 * @param size size of the package's checkpoint; null if there is none
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
