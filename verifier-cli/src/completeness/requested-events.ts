import type { PackageFilter } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

/** Verifies that the records requested by their event ids are in the package (docs/evidence-format.md §10). */
export class RequestedEvents {
  readonly #missing: Set<string> | null;

  constructor(
    { event_ids: eventIds }: Pick<PackageFilter, 'event_ids'>,
    readonly findings: Findings,
  ) {
    this.#missing = eventIds && new Set(eventIds);
  }

  accept(eventId: string): void {
    this.#missing?.delete(eventId);
  }

  finish(): void {
    if (this.#missing === null) {
      this.findings.skip('completeness.events', finding('no-events-requested'));
      return;
    }
    for (const eventId of this.#missing) {
      this.findings.open('completeness.events', finding('requested-record-missing'), {
        file: PACKAGE_FILES.manifest,
        event_id: eventId,
      });
    }
    if (this.#missing.size === 0) this.findings.pass('completeness.events');
  }
}
