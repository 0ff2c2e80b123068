import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import type { PackageFilter } from '../../../schemas/evidence/manifest.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';
import type { ConsentMembers } from '../versions/schemes.js';

/**
 * Verifies, record by record, that values are disclosed only where the manifest says that they were requested
 * (docs/evidence-format.md §10).
 */
export class FilterRules {
  readonly #eventIds: ReadonlySet<string> | null;
  readonly #fields: ReadonlySet<string> | 'all';

  constructor(readonly filter: PackageFilter) {
    const { event_ids: eventIds, disclose } = filter;
    this.#eventIds = eventIds && new Set(eventIds);
    this.#fields = disclose === 'all' ? 'all' : new Set(disclose === 'none' ? [] : disclose);
  }

  verify(record: ConsentMembers, disclosures: readonly Disclosure[], findings: EntryFindings): void {
    if (disclosures.length === 0) return;
    const fields = this.#fields;
    const unasked = fields === 'all' ? undefined : disclosures.find(({ name }) => !fields.has(name));
    if (!this.matches(record)) findings.fail('manifest.filter', finding('value-outside-filter'));
    else if (unasked !== undefined)
      findings.fail('manifest.filter', finding('value-not-requested', { name: unasked.name }));
    else findings.pass('manifest.filter');
  }

  /** Whether the manifest states that all values of this record are disclosed. */
  mustDisclose(record: ConsentMembers): boolean {
    return this.#fields === 'all' && this.matches(record);
  }

  /** Compares public members only: the public part does not identify the person. */
  matches(record: ConsentMembers): boolean {
    const { from, to, consent_type: type, document_version_id: version } = this.filter;
    return (
      (from === null || record.created_at >= from) &&
      (to === null || record.created_at < to) &&
      (type === null || record.consent_type === type) &&
      (version === null || record.document_version_id === version) &&
      (this.#eventIds === null || this.#eventIds.has(record.event_id))
    );
  }
}
