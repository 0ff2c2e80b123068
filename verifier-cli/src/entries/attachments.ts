import { isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { AttachmentReference, type Disclosure } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PackageFiles } from '../files/package-files.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';

/** Verifies the files that disclosures name, and remembers their names (docs/evidence-format.md §5). */
export class Attachments {
  /** Names of the files that a disclosure vouches for. */
  readonly named = new Set<string>();
  /** Whether an event of an unknown version has disclosures, which may name files too. */
  isUnknownNamed = false;

  constructor(readonly files: PackageFiles) {}

  /** Returns whether the existing files that these disclosures name have been read. */
  areAtHand(disclosures: readonly (Disclosure | null)[]): boolean {
    return disclosures.every((disclosure) => disclosure === null || !namesFile(disclosure));
  }

  /** Reads the files that these disclosures name. */
  async load(disclosures: readonly (Disclosure | null)[]): Promise<void> {
    for (const disclosure of disclosures) {
      const reference = disclosure === null || !namesFile(disclosure) ? null : referenceOf(disclosure);
      const file = reference === null ? null : PACKAGE_FILES.attachment(reference.sha256);
      if (file !== null && this.files.archive.get(file)?.size === reference?.size) await this.files.digest(file);
    }
  }

  /** @param disclosures disclosures whose files are loaded */
  verify(disclosures: readonly Disclosure[], findings: EntryFindings): void {
    for (const disclosure of disclosures) {
      if (!namesFile(disclosure)) continue;
      const problem = this.#problemOf(disclosure);
      if (problem === null) findings.pass('disclosure.attachment');
      else findings.fail('disclosure.attachment', finding('attachment-of', { name: disclosure.name, problem }));
    }
  }

  #problemOf(disclosure: Disclosure): Finding | null {
    const reference = referenceOf(disclosure);
    if (reference === null) return finding('attachment-reference-malformed');
    const file = PACKAGE_FILES.attachment(reference.sha256);
    const enclosed = this.files.archive.get(file);
    if (enclosed === undefined) return finding('attachment-missing');
    if (enclosed.size !== reference.size) return finding('attachment-other-size');
    this.named.add(file);
    return this.files.digestOf(file) === reference.sha256 ? null : finding('attachment-changed');
  }
}

function namesFile({ name, value }: Disclosure): boolean {
  return isAttachmentName(name) && value !== null;
}

function referenceOf({ value }: Disclosure): AttachmentReference | null {
  return AttachmentReference.safeParse(value).data ?? null;
}
