import {
  Manifest,
  ManifestVersion,
  NewerManifest,
  PACKAGE_MAJOR,
  PACKAGE_MINOR,
} from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { matchShape, parseShape } from '../files/parse.js';
import { englishText, type Finding, finding } from '../findings/finding.js';
import { unknownVersion } from '../findings/unknown-version.js';

/** The manifest and the bytes that are signed. */
export interface ReadManifest {
  readonly bytes: Uint8Array;
  /** Null if the bytes are not a manifest of a known version. */
  readonly manifest: Manifest | null;
}

/** The package has a major version that this verifier does not know, so there is no verdict. */
export class UnknownFormatVersion extends Error {
  override readonly name = 'UnknownFormatVersion';

  constructor(readonly reason: Finding) {
    super(englishText(reason));
  }
}

/**
 * Reads the manifest (docs/evidence-format.md §10). Although it is written last, before its signature, any position in
 * the ZIP is accepted.
 * @throws UnknownFormatVersion
 */
export async function readManifest(files: PackageFiles): Promise<ReadManifest> {
  const at = { file: PACKAGE_FILES.manifest };
  const bytes = await files.bytes(PACKAGE_FILES.manifest, LIMITS.manifestBytes);
  if (bytes === null) {
    files.findings.fail('manifest.format', finding('manifest-unreadable'), at);
    return { bytes: new Uint8Array(), manifest: null };
  }
  const version = parseShape(ManifestVersion, bytes, LIMITS.manifestValues);
  const [major = PACKAGE_MAJOR, minor = 0] = version.ok ? version.value.version.split('.').map(Number) : [];
  const unknown = unknownVersion(finding('format-version', { version: `${major}.${minor}` }));
  if (major !== PACKAGE_MAJOR) throw new UnknownFormatVersion(finding('no-verdict-given', { reason: unknown }));
  const isNewer = minor > PACKAGE_MINOR;
  const parsed = version.ok ? matchShape(isNewer ? NewerManifest : Manifest, version.json) : version;
  // A newer version may change the content of a member, such as the filter, and thus the meaning of others.
  if (isNewer) files.findings.open('manifest.format', unknown, at);
  if (!parsed.ok && isNewer) return { bytes, manifest: null };
  if (!parsed.ok) {
    files.findings.fail('manifest.format', finding('manifest-invalid', { reason: parsed.reason }), at);
    return { bytes, manifest: null };
  }
  if (!isNewer) files.findings.pass('manifest.format');
  return { bytes, manifest: parsed.value };
}
