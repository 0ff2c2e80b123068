import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { Manifest } from '../../../schemas/evidence/manifest.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { readPackage } from '../../../src/demo/alter-package.js';
import {
  findManifestCertificate,
  manifestBytes,
  manifestSignature,
} from '../../../src/evidence/package/manifest-files.js';
import { storedZip } from '../dishonest-operator/zip.js';
import type { OperatedInstallation } from './installation.js';

/** Member of an entry without a tag. */
const UNTAGGED = '"person_tag":null';

/**
 * Leaves records out of a package, makes its manifest agree, and signs it anew with the operator's
 * key, as a changed exporter does.
 * @param path honest package
 * @param hidden event ids of records
 */
export async function withoutRecords(
  operator: OperatedInstallation,
  path: string,
  hidden: readonly string[],
): Promise<Uint8Array> {
  const files = await readPackage(path);
  const textOf = (name: string): string => files.get(name)?.toString('utf8') ?? '';
  const isHidden = (line: string): boolean => hidden.some((id) => line.includes(id));
  const lines = textOf(PACKAGE_FILES.entries).split('\n').filter(Boolean);
  const left = lines.filter((line) => !isHidden(line));
  const removed = lines.filter(isHidden).map((line) => EntryLine.parse(JSON.parse(line)));
  files.set(PACKAGE_FILES.entries, Buffer.from(left.map((line) => `${line}\n`).join('')));
  for (const { batch, index } of removed) {
    const proofs = textOf(PACKAGE_FILES.proofs(batch)).split('\n').filter(Boolean);
    const kept = proofs.filter((line) => line.includes('"leaf"') || !line.includes(`"index":${index},`));
    if (kept.length === 0) files.delete(PACKAGE_FILES.proofs(batch));
    else files.set(PACKAGE_FILES.proofs(batch), Buffer.from(kept.map((line) => `${line}\n`).join('')));
  }
  const manifest = Manifest.parse(JSON.parse(textOf(PACKAGE_FILES.manifest)));
  const { counts, filter } = manifest;
  const tagged = left.map((line) => EntryLine.parse(JSON.parse(line))).filter(({ entry }) => !entry.includes(UNTAGGED));
  const isNeeded = (batch: number): boolean => filter.person !== null || tagged.some((line) => line.batch === batch);
  for (const { batch } of removed) if (!isNeeded(batch)) files.delete(PACKAGE_FILES.tags(batch));
  const person = filter.person === null ? null : { ...filter.person, records: counts.consents - removed.length };
  const changed: Manifest = {
    ...manifest,
    filter: { ...filter, person },
    counts: { ...counts, entries: counts.entries - removed.length, consents: counts.consents - removed.length },
    // Whole sites are cut at their end.
    complete: manifest.complete.map(({ stream, first, last }) => ({
      stream,
      first,
      last: stream.startsWith('consents-') ? last - removed.length : last,
    })),
    files: Object.fromEntries(
      [...files]
        .filter(([name]) => Object.hasOwn(manifest.files, name))
        .map(([name, content]) => [name, toHex(sha256(content))]),
    ),
  };
  const bytes = manifestBytes(changed);
  files.set(PACKAGE_FILES.manifest, Buffer.from(bytes));
  const signature = await operator.withKeys(async (keyring, db) => {
    const key = await keyring.manifestKey();
    return manifestSignature(bytes, key, await findManifestCertificate(db, key.publicKeyBytes, manifest.checkpoint));
  });
  files.set(PACKAGE_FILES.manifestSignature, Buffer.from(signature));
  return storedZip(files);
}
