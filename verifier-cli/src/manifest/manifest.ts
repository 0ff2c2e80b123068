import { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';

/** The manifest and the bytes that are signed. */
export interface ReadManifest {
  readonly bytes: Uint8Array;
  /** Null if the bytes are not a manifest of a known version. */
  readonly manifest: Manifest | null;
}

/**
 * Reads the manifest. It must come last but for its signature only in time, not in place: any place
 * in the ZIP is accepted.
 */
export async function readManifest(files: PackageFiles): Promise<ReadManifest> {
  const at = { file: PACKAGE_FILES.manifest };
  const bytes = await files.bytes(PACKAGE_FILES.manifest, LIMITS.manifestBytes);
  if (bytes === null) {
    files.findings.fail('manifest.format', 'the manifest cannot be read', at);
    return { bytes: new Uint8Array(), manifest: null };
  }
  const parsed = parseShape(Manifest, bytes, LIMITS.manifestValues);
  if (!parsed.ok) {
    files.findings.fail('manifest.format', `the manifest is invalid: ${parsed.reason}`, at);
    return { bytes, manifest: null };
  }
  files.findings.pass('manifest.format');
  return { bytes, manifest: parsed.value };
}
