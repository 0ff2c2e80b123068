import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PackageFiles } from '../files/package-files.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

const ATTACHMENTS = 'attachments/';

/** The files of a package that its entries need. */
export interface NamedFiles {
  /** Names of the files that a disclosure vouches for. */
  readonly attachments: ReadonlySet<string>;
  /** Whether a disclosure of an event of an unknown version may vouch for further files. */
  readonly isUnknownNamed: boolean;
  /** Whether an entry names the notice of a hash. */
  readonly notice: (hash: string) => 'named' | 'not-named' | 'unknown';
  /** Whether the batch of a number has an entry of the package. */
  readonly hasProofs: (number: number) => boolean;
  /** Whether a batch or roll-up shows the tag of an entry, or that a tag is absent. */
  readonly hasTags: (number: number) => boolean;
}

/**
 * Compares every file with its digest in the manifest, and the list with the files present (docs/evidence-format.md
 * §10). A file that nothing names proves nothing, but someone who unzips the package would take it for a part of the
 * evidence.
 */
export async function verifyFileList(files: PackageFiles, manifest: Manifest | null, named: NamedFiles): Promise<void> {
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
    if (name.startsWith(ATTACHMENTS)) checkAttachment(check, named);
    else if (manifest !== null) checkListed(check);
    if (manifest !== null) checkNeeded(check, named);
  }
  for (const name of listed.keys()) {
    if (!files.has(name)) findings.fail('manifest.files', finding('file-missing'), { file: name });
  }
  const message = finding('files-not-listed');
  if (manifest === null) findings.open('manifest.files', message, {}, 'manifest.format');
}

interface FileCheck {
  readonly name: string;
  /** SHA-256 of the file in hex, or null if the file cannot be read. */
  readonly digest: string | null;
  /** The digest that the manifest lists, or undefined if it does not list the file. */
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

function checkAttachment({ name, expected, findings }: FileCheck, { attachments, isUnknownNamed }: NamedFiles): void {
  const at = { file: name };
  if (expected !== undefined) findings.fail('manifest.files', finding('manifest-lists-attachment'), at);
  else if (attachments.has(name)) findings.pass('manifest.files');
  else
    findings.report('manifest.files', isUnknownNamed ? 'indeterminate' : 'fail', finding('attachment-not-named'), at);
}

const NOTICE = /^notices\/([0-9a-f]{64})$/;
const NUMBERED = /^(proofs|tags)\/(\d+)\.ndjson$/;

function checkNeeded({ name, findings }: FileCheck, { notice, hasProofs, hasTags }: NamedFiles): void {
  const [, hash] = NOTICE.exec(name) ?? [];
  const [, kind, number] = NUMBERED.exec(name) ?? [];
  const isNamed = kind === undefined || (kind === 'proofs' ? hasProofs : hasTags)(Number(number));
  const use = hash === undefined ? (isNamed ? 'named' : 'not-named') : notice(hash);
  if (use === 'named') return;
  const outcome = use === 'unknown' ? 'indeterminate' : 'fail';
  findings.report('manifest.files', outcome, finding('file-not-named'), { file: name });
}

function checkListed({ name, digest, expected, findings }: FileCheck): void {
  const at = { file: name };
  if (expected === undefined) findings.fail('manifest.files', finding('file-not-listed'), at);
  else if (digest === null) findings.fail('manifest.files', finding('file-unreadable'), at, 'container.content');
  else if (digest !== expected) findings.fail('manifest.files', finding('file-changed'), at);
  else findings.pass('manifest.files');
}
