import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../../schemas/crypto/digest.js';

/** The package of the verifier that this service was released with. */
const PACKAGE = '@consent-ledger/verify';

/** The verifier that a package names to its reader. */
export interface ReleasedVerifier {
  /** Name and version of its npm package. */
  readonly name: string;
  readonly version: string;
  /** SHA-256, in hex, of the page that the service serves for download. */
  readonly pageSha256: string;
  /** Scheme, host and port of the service; null if the operator has not configured them. */
  readonly publicUrl: string | null;
}

/** Path of a built file of the verifier. @param name of the file */
export function verifierFile(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'dist', name);
}

/**
 * Reads what the service knows of the verifier that it serves.
 * @param publicUrl of the configuration, without a slash at its end
 * @param version of this release
 * @throws errors of the disk, if the verifier is not built
 */
export async function releasedVerifier(publicUrl: string | undefined, version: string): Promise<ReleasedVerifier> {
  const page = await readFile(verifierFile('consent-verify.html'));
  return { name: PACKAGE, version, pageSha256: sha256Hex(page), publicUrl: publicUrl ?? null };
}
