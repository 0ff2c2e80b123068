import { counted } from '../../../schemas/text/counted.js';
import type { StreamCoverage } from '../completeness/coverage.js';
import type { RecordsSummary } from '../entries/summary.js';
import { printable } from './printable.js';
import type { ReportedFilter, ReportedNewest, ReportedPolicy, VerificationReport } from './report.js';

const SHOWN_RUNS = 5;

/** How many records there are of each decision, in words: a rejection is no consent. */
export function decisionsText({ decisions }: RecordsSummary): string {
  const parts = Object.entries(decisions).map(([decision, count]) => `${count} ${printable(decision)}`);
  return parts.join(', ') || 'none';
}

/** How many records hold, in words. */
export function verdictsText({ verdicts }: RecordsSummary): string {
  return `${verdicts.valid} hold, ${verdicts.indeterminate} indeterminate, ${verdicts.invalid} invalid`;
}

/** How much the verification cost of what the package may cost, in words. */
export function workText({ done, limit }: VerificationReport['work']): string {
  return `${done} units of at most ${limit}`;
}

/** The delays by which the records were evaluated, in words. */
export function policyText({ number, ...policy }: ReportedPolicy): string {
  const delays = `sealed within ${policy.seal_within_seconds} s, stamped within ${policy.stamp_within_seconds} s`;
  return number === null
    ? `${delays} (defaults: the package includes no policy of the ledger)`
    : `${delays} (policy ${number} of the ledger)`;
}

/** Who has stamped the newest checkpoint, in words. */
export function authoritiesText({ checkpoint, authorities, authorities_demanded: demanded }: ReportedNewest): string {
  if (checkpoint === null) return 'the package includes no checkpoint';
  const found = counted(authorities, 'distinct authority', 'distinct authorities');
  return `${found} stamped checkpoint ${checkpoint}; the policy demands ${demanded}`;
}

/** Who has cosigned the newest checkpoint, in words. */
export function witnessesText({ checkpoint, witnesses, witnesses_demanded: demanded }: ReportedNewest): string {
  if (checkpoint === null) return 'the package includes no checkpoint';
  const found = counted(witnesses, 'witness', 'witnesses');
  return `${found} that you gave cosigned checkpoint ${checkpoint}; the policy demands ${demanded}`;
}

/** How far one stream is covered, in words; always with the revisions it is about. */
export function coverageText(coverage: StreamCoverage): string {
  const { complete, complete_up_to: upTo, ledger_reaches: reaches, is_whole: isWhole } = coverage;
  const ledger =
    reaches === null
      ? 'the package does not show where it ends'
      : reaches < 0
        ? 'the ledger has none'
        : `the ledger has revisions up to ${reaches}`;
  if (upTo !== null && isWhole) return `complete up to revision ${upTo}, the last one in the ledger`;
  if (upTo !== null) return `complete up to revision ${upTo}; ${ledger}`;
  if (complete.length === 0) return `not shown to be complete; ${ledger}`;
  const runs = complete.slice(0, SHOWN_RUNS).map(({ first, last }) => `${first} to ${last}`);
  const more = complete.length > runs.length ? ` and ${complete.length - runs.length} more runs` : '';
  return `complete only within revisions ${runs.join(', ')}${more}; ${ledger}`;
}

/** Which records were asked for, in words. */
export function filterText(filter: ReportedFilter): string {
  const { from, to, consent_type: type, document_version_id: version, event_ids: eventIds, persons } = filter;
  const parts = [
    from === null ? null : `created from ${from}`,
    to === null ? null : `created before ${to}`,
    type === null ? null : `type ${type}`,
    version === null ? null : `document version ${version}`,
    eventIds === null ? null : `${eventIds} selected records`,
    persons === 0 ? null : `${persons === 1 ? 'one person' : `${persons} persons`} (not named here)`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'the whole site' : `only ${parts.join('; ')}`;
}

/** Which values were asked to be shown, in words. */
export function discloseText({ disclose }: ReportedFilter): string {
  if (typeof disclose === 'string') return disclose;
  return disclose.length === 0 ? 'none' : disclose.join(', ');
}
