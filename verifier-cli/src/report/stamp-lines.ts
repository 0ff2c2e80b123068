import type { Texts } from '../i18n/texts.js';
import { printable } from '../rendering/printable.js';
import type { ReportedStamp, VerificationReport } from './report.js';

/** How many time stamps the terminal lists. */
const MAX_LINES = 10;

/** Lists the newest time stamps with their authorities. */
export function stampLines({ stamps: { count, first } }: VerificationReport, texts: Texts): string[] {
  const { terminal } = texts.report;
  const shown = first.slice(-MAX_LINES);
  if (shown.length === 0) return [];
  const title = shown.length < count ? terminal.newestStamps(shown.length, count) : terminal.stamps;
  return [title, ...shown.map((stamp) => stampLine(stamp, texts))];
}

function stampLine({ file, outcome, time, authority, organization }: ReportedStamp, texts: Texts): string {
  const { terminal } = texts.report;
  const root = organization === null ? terminal.noRoot : terminal.root(organization);
  return `  ${printable(`${file}: ${terminal.stampOutcomes[outcome]}, ${time ?? terminal.unknownTime}, ${authority ?? texts.words.unknown}; ${root}`)}`;
}
