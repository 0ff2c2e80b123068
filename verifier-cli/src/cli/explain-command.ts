import { CHECK_IDS, CHECKS, type CheckId } from '../findings/checks.js';
import { EXIT_CODES } from './exit-codes.js';
import { UsageError } from './usage-error.js';

export interface ExplainOptions {
  readonly json?: boolean;
}

/**
 * Prints what a check verifies, when it fails, and when it remains undecided.
 * @param id identifier of a check as reports name it, or the part before its dot; undefined for all checks
 * @throws UsageError if no check has this id
 */
export function runExplain(
  id: string | undefined,
  { json = false }: ExplainOptions,
  out: (text: string) => void,
): number {
  const ids = CHECK_IDS.filter((known) => id === undefined || known === id || known.startsWith(`${id}.`));
  if (ids.length === 0)
    throw new UsageError(`there is no check “${id}”: run “consent-verify explain” for the list of all checks`);
  const text = json
    ? JSON.stringify(
        ids.map((id) => {
          const { tr: _, ...check } = CHECKS[id];
          return { id, ...check };
        }),
        null,
        2,
      )
    : ids.map(explained).join('\n\n');
  out(`${text}\n`);
  return EXIT_CODES.valid;
}

function explained(id: CheckId): string {
  const { meaning, required, fails, opens } = CHECKS[id];
  return [
    `${id}${required ? '' : ' (not required)'}`,
    `  ${meaning}`,
    `  Fails: ${fails ?? 'never.'}`,
    `  Stays open: ${opens ?? 'never.'}`,
  ].join('\n');
}
