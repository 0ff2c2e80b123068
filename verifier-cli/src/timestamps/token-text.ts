import { printable } from '../rendering/printable.js';
import type { TokenReport } from './token-report.js';

const VERDICTS = {
  valid: 'VALID: the authority stamped exactly this data.',
  indeterminate: 'INDETERMINATE: no check failed, but at least one could not be decided. See the checks marked “?”.',
  invalid: 'INVALID: at least one check failed. See the checks marked “✗”.',
} as const;

const MARKS = { pass: '✓', fail: '✗', indeterminate: '?', 'not-applicable': '–' } as const;

/** The report about one token as readable text. */
export function tokenText(report: TokenReport): string {
  return [
    VERDICTS[report.verdict],
    '',
    ...claimLines(report),
    'Checks',
    ...report.checks.map(({ id, outcome, message }) => `  ${MARKS[outcome]} ${id.padEnd(22)} ${printable(message)}`),
    '',
  ].join('\n');
}

function claimLines({ verdict, claims, signer, sound_until: end }: TokenReport): string[] {
  if (claims === null) return [];
  const accuracy = claims.accuracy_microseconds === null ? '' : ` (± ${claims.accuracy_microseconds / 1000} ms)`;
  const lines = [
    verdict === 'valid' ? 'Proved' : 'Claimed by the token (not proved)',
    `  the data existed by  ${claims.time}${accuracy}`,
    `  data                 ${printable(claims.hash ?? 'unknown hash')} ${claims.digest}`,
    `  serial               ${claims.serial}`,
    `  policy               ${printable(claims.policy)}`,
  ];
  if (signer !== null) lines.push(`  authority            ${printable(signer.subject)}`);
  if (end !== null) lines.push(`  valid until          ${end.date} (${printable(end.reason)})`);
  return [...lines, ''];
}
