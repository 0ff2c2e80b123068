import { printable } from './printable.js';
import type { ReportedStamp, VerificationReport } from './report.js';

/** How many time stamps the terminal lists. */
const MAX_LINES = 10;
const OUTCOMES: Readonly<Record<ReportedStamp['outcome'], string>> = {
  pass: 'valid',
  fail: 'invalid',
  indeterminate: 'indeterminate',
};

/** What a batch without a proved time lacks. @param required number of distinct authorities */
export function missingStamps(required: number): string {
  return required === 1 ? 'no valid time stamp' : `no valid time stamps of ${required} distinct authorities`;
}

/** Lists the newest time stamps with their authorities. */
export function stampLines({ stamps: { count, first } }: VerificationReport): string[] {
  const shown = first.slice(-MAX_LINES);
  if (shown.length === 0) return [];
  const title = shown.length < count ? `Time stamps (the newest ${shown.length} of ${count})` : 'Time stamps';
  return [title, ...shown.map(stampLine)];
}

function stampLine({ file, outcome, time, authority, organization }: ReportedStamp): string {
  const root = organization === null ? 'no trusted root' : `root of ${organization}`;
  return `  ${printable(`${file}: ${OUTCOMES[outcome]}, ${time ?? 'unknown time'}, ${authority ?? 'unknown'}; ${root}`)}`;
}
