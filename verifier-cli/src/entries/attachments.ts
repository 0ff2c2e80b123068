import { AttachmentReference, type Disclosure } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PackageFiles } from '../files/package-files.js';
import type { EntryFindings } from '../findings/entry-findings.js';

/** Fields whose content is a file of its own; the disclosure names it. */
const ATTACHMENT_FIELDS: ReadonlySet<string> = new Set(['signature_image', 'custom_document_content']);

/** Verifies the files that disclosures name, and remembers which they are. */
export class Attachments {
  /** Names of the files that a disclosure vouches for. */
  readonly named = new Set<string>();

  constructor(readonly files: PackageFiles) {}

  async verify(disclosures: readonly Disclosure[], findings: EntryFindings): Promise<void> {
    for (const { name, value } of disclosures) {
      if (!ATTACHMENT_FIELDS.has(name) || value === null) continue;
      const problem = await this.#problemOf(value);
      if (problem === null) findings.pass('disclosure.attachment');
      else findings.fail('disclosure.attachment', `${name}: ${problem}`);
    }
  }

  async #problemOf(value: unknown): Promise<string | null> {
    const reference = AttachmentReference.safeParse(value);
    if (!reference.success) return 'the reference to the attachment is malformed';
    const file = PACKAGE_FILES.attachment(reference.data.sha256);
    const enclosed = this.files.archive.get(file);
    if (enclosed === undefined) return 'the attachment is missing';
    if (enclosed.size !== reference.data.size) return 'the attachment has another size';
    this.named.add(file);
    return (await this.files.digest(file)) === reference.data.sha256 ? null : 'the attachment was changed';
  }
}
