import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PackageFiles } from '../files/package-files.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

const ATTACHMENTS = 'attachments/';

/** The attachment files of a package. */
export interface NamedAttachments {
  /** Names of the files that a disclosure vouches for. */
  readonly attachments: ReadonlySet<string>;
  /** Whether a disclosure of an event of an unknown version may vouch for further ones. */
  readonly isUnknownNamed: boolean;
}

/**
 * Compares every file with its digest in the manifest, and the list with the files present.
 * @param attachments the known attachment files
 */
export async function verifyFileList(
  files: PackageFiles,
  manifest: Manifest | null,
  attachments: NamedAttachments,
): Promise<void> {
  const { findings } = files;
  const listed = new Map(Object.entries(manifest?.files ?? {}));
  for (const name of files.archive.keys()) {
    const digest = await files.digest(name);
    if (files.work.isExceeded) return;
    const check: FileCheck = { name, digest, expected: listed.get(name), findings };
    if (name === PACKAGE_FILES.manifest || name === PACKAGE_FILES.manifestSignature) {
      if (listed.has(name)) findings.fail('manifest.files', finding('manifest-lists-itself'), { file: name });
      continue;
    }
    checkContentName(check);
    if (name.startsWith(ATTACHMENTS)) checkAttachment(check, attachments);
    else if (manifest !== null) checkListed(check);
  }
  for (const name of listed.keys()) {
    if (!files.has(name)) findings.fail('manifest.files', finding('file-missing'), { file: name });
  }
  const message = finding('files-not-listed');
  if (manifest === null) findings.open('manifest.files', message, {}, 'manifest.format');
}

interface FileCheck {
  readonly name: string;
  /** Hex SHA-256 of the file; null if it cannot be read. */
  readonly digest: string | null;
  /** The digest that the manifest lists; undefined if it does not list the file. */
  readonly expected: string | undefined;
  readonly findings: Findings;
}

const CONTENT_NAME = /^(?:notices|attachments|checkpoints\/(?:certificates|crls|ocsp))\/([0-9a-f]{64})/;

function checkContentName({ name, digest, findings }: FileCheck): void {
  const named = CONTENT_NAME.exec(name)?.[1];
  if (digest !== null && named !== undefined && named !== digest) {
    findings.fail('manifest.files', finding('content-name-differs'), { file: name });
  }
}

function checkAttachment(
  { name, expected, findings }: FileCheck,
  { attachments, isUnknownNamed }: NamedAttachments,
): void {
  const at = { file: name };
  if (expected !== undefined) findings.fail('manifest.files', finding('manifest-lists-attachment'), at);
  else if (attachments.has(name)) findings.pass('manifest.files');
  else
    findings.report('manifest.files', isUnknownNamed ? 'indeterminate' : 'fail', finding('attachment-not-named'), at);
}

function checkListed({ name, digest, expected, findings }: FileCheck): void {
  const at = { file: name };
  if (expected === undefined) findings.fail('manifest.files', finding('file-not-listed'), at);
  else if (digest === null) findings.fail('manifest.files', finding('file-unreadable'), at, 'container.content');
  else if (digest !== expected) findings.fail('manifest.files', finding('file-changed'), at);
  else findings.pass('manifest.files');
}
