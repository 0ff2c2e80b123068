import type { Texts } from '../i18n/texts.js';
import { printable } from '../rendering/printable.js';
import { byDayText, dayText } from '../rendering/times-text.js';
import type { ReportedNames, ReportedScan } from './report.js';

/** Describes a recorded scan in words: names and values. The values are printable. */
export function scanFacts(scan: ReportedScan, texts: Texts): readonly (readonly [string, string])[] {
  const { words } = texts;
  const { scans } = texts.report;
  const isRefused = scan.choices.includes('refused');
  const names = ({ count, first }: ReportedNames): string => {
    if (count === 0) return words.none;
    const more = count > first.length ? `, ${words.more(count - first.length)}` : '';
    return `${count}: ${first.map(printable).join(', ')}${more}`;
  };
  return [
    [scans.recorded, dayText(scan.recorded_at, texts)],
    [scans.existedBy, scan.existed_by === null ? words.notProved : byDayText(scan.existed_by, texts)],
    [scans.visited, scans.visits(scan.method, isRefused, scan.signal)],
    [scans.comparedWith, configurationText(scan, texts)],
    ...scan.problems
      // If the page was not visited after a refusal, nothing is known about what it sets then.
      .filter(({ problem }) => isRefused || problem !== 'after_refusal')
      .map(({ problem, ...found }) => [scans.problems[problem], names(found)] as const),
    [scans.thirdParties, names(scan.third_party_hosts)],
    ...(scan.is_whole ? [] : [[scans.limits, scans.notWhole] as const]),
  ];
}

function configurationText({ configuration }: ReportedScan, { report: { scans } }: Texts): string {
  if (configuration === null) return scans.noConfiguration;
  return configuration.number === null ? scans.unknownConfiguration : scans.configuration(configuration.number);
}
