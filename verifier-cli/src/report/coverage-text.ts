import type { ExportStatement } from '../../../schemas/evidence/manifest.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { Texts } from '../i18n/texts.js';
import { decisionWord, wordOf } from '../rendering/wording.js';
import { isLedgerUnknown } from './missing-trust.js';
import type { ReportedCoverage, ReportedFilter, ReportedNewest, ReportedPolicy, VerificationReport } from './report.js';

const SHOWN_RUNS = 5;

/** Says how many records there are of each decision, because a rejection is not a consent. */
export function decisionsText({ decisions, imported }: RecordsSummary, texts: Texts): string {
  const parts = Object.entries(decisions).map(([decision, count]) => `${count} ${decisionWord(decision, texts)}`);
  const text = parts.join(', ') || texts.words.none;
  return imported === 0 ? text : `${text}; ${texts.evidence.imported(imported)}`;
}

/** Says how many records are valid: none if their ledger is unknown, as in the list of records. */
export function verdictsText(report: VerificationReport, { evidence }: Texts): string {
  const { valid, indeterminate, invalid } = report.records.verdicts;
  if (isLedgerUnknown(report)) return evidence.verdicts(0, valid + indeterminate, invalid);
  return evidence.verdicts(valid, indeterminate, invalid);
}

/** Says how much of the permitted work the verification took. */
export function workText({ done, limit }: VerificationReport['work'], { evidence }: Texts): string {
  return evidence.work(done, limit);
}

/** The delays by which the records were evaluated, in words. */
export function policyText({ number, ...policy }: ReportedPolicy, { evidence }: Texts): string {
  const source = number === null ? evidence.policyDefaults : evidence.policyNumber(number);
  return evidence.policy(policy.seal_within_seconds, policy.stamp_within_seconds, source);
}

/** States in words how many authorities stamped the newest checkpoint. */
export function authoritiesText(
  { checkpoint, authorities, authorities_demanded: demanded }: ReportedNewest,
  { evidence }: Texts,
): string {
  return checkpoint === null ? evidence.noCheckpoint : evidence.authorities(authorities, checkpoint, demanded);
}

/** States in words how many witnesses cosigned the newest checkpoint. */
export function witnessesText(
  { checkpoint, witnesses, witnesses_demanded: demanded }: ReportedNewest,
  { evidence }: Texts,
): string {
  return checkpoint === null ? evidence.noCheckpoint : evidence.witnesses(witnesses, checkpoint, demanded);
}

/**
 * Says how far one stream is covered, always with the revisions concerned.
 * @param isRecomputed whether a witness recomputed the roll-ups that show the end of the stream
 */
export function coverageText(coverage: ReportedCoverage, isRecomputed: boolean, { evidence }: Texts): string {
  const { complete, complete_runs: count, complete_up_to: upTo, ledger_reaches: reaches, is_whole: isWhole } = coverage;
  const end = reaches === null ? evidence.endNotShown : reaches < 0 ? evidence.endEmpty : evidence.endAt(reaches);
  if (upTo !== null && isWhole) return evidence.wholeUpTo(upTo, isRecomputed);
  if (upTo !== null) return evidence.completeUpTo(upTo, end);
  if (complete.length === 0) return evidence.notShownComplete(end);
  const runs = complete.slice(0, SHOWN_RUNS).map(({ first, last }) => evidence.run(first, last));
  return evidence.completeWithin(runs.join(', '), count - runs.length, end);
}

/**
 * Says in plain words how much of what the ledger has of one kind is in the package.
 * @param isRecomputed whether a witness recomputed the roll-ups that show the end of the stream
 */
export function coverageSentence(
  coverage: ReportedCoverage,
  kind: 'consents' | 'notices',
  isRecomputed: boolean,
  { evidence }: Texts,
): string {
  const { complete, complete_runs: count, complete_up_to: upTo, ledger_reaches: reaches, is_whole: isWhole } = coverage;
  const name = evidence.kinds[kind];
  // Revisions begin at 0, and readers count from 1.
  if (upTo !== null && isWhole) return evidence.hasAll(upTo + 1, name, isRecomputed);
  const end = reaches === null ? evidence.ledgerHasUnknown : evidence.ledgerHas(reaches + 1);
  if (upTo !== null) return evidence.hasFirst(upTo + 1, name, end);
  if (complete.length === 0) return evidence.hasNotAll(name, end);
  const shown = complete.slice(0, SHOWN_RUNS).map(({ first, last }) => evidence.run(first + 1, last + 1));
  const more = count - shown.length;
  return evidence.hasRanges(`${shown.join(', ')}${more === 0 ? '' : ` ${evidence.moreRanges(more)}`}`, name, end);
}

/** The filter of the requested records, in words. Its values come from the package. */
export function filterText(filter: ReportedFilter, { evidence }: Texts): string {
  const { from, to, consent_type: type, document_version_id: version, event_ids: eventIds, persons } = filter;
  const parts = [
    from === null ? null : evidence.from(from),
    to === null ? null : evidence.to(to),
    type === null ? null : evidence.type(type),
    version === null ? null : evidence.version(version),
    eventIds === null ? null : evidence.selected(eventIds),
    persons === 0 ? null : evidence.persons(persons),
  ].filter((part) => part !== null);
  return parts.length === 0 ? evidence.wholeSite : evidence.only(parts.join('; '));
}

/** Name and value of what the package states of its making, for readers. Nothing if it states nothing. */
export function madeForLines(stated: ExportStatement | null, { evidence }: Texts): [string, string][] {
  if (stated === null) return [];
  const { reason, role, name } = stated;
  // A name must not close the quotation marks around it.
  const quoted = name?.replaceAll('”', '"');
  return [[evidence.madeFor, evidence.madeForText(evidence.reasons[reason], evidence.roles[role], quoted)]];
}

/** The values that were requested to be shown, in words. */
export function discloseText({ disclose }: ReportedFilter, { evidence, words }: Texts): string {
  if (typeof disclose === 'string') return wordOf(evidence.discloses, disclose);
  return disclose.length === 0 ? words.none : disclose.join(', ');
}
