import { CHECKS, type VerificationReport } from '../../verifier-cli/src/index.js';

type Check = VerificationReport['checks'][number];

export const isBad = ({ outcome }: Check): boolean => outcome === 'fail' || outcome === 'indeterminate';

/** The checks that a report states as causes: they failed or stayed open by themselves. */
export function causesOf({ checks }: VerificationReport): readonly string[] {
  const decisive = (check: Check): boolean =>
    check.outcome === 'fail' || check.required || check.affects.some((id) => CHECKS[id].required);
  return checks.filter((check) => isBad(check) && check.because.length === 0 && decisive(check)).map(({ id }) => id);
}

/**
 * Finds faults in the causes that a report states. The causes are for people: the verdict follows
 * from the outcomes of all checks, and every check that failed or stayed open has a cause.
 */
export function problemsOfCauses(report: VerificationReport): readonly string[] {
  const problems: string[] = [];
  const byId = new Map(report.checks.map((check) => [check.id, check]));
  for (const check of report.checks) {
    const { id, because, affects } = check;
    if (because.length > 0 && !isBad(check)) problems.push(`${id} passed, and has a cause`);
    for (const cause of because) {
      const found = byId.get(cause);
      if (found === undefined || !isBad(found)) problems.push(`${id} is because of ${cause}, which passed`);
      if (found?.because.length !== 0) problems.push(`${id} is because of ${cause}, which has a cause`);
      if (found?.affects.includes(id) !== true) problems.push(`${cause} does not state that it affects ${id}`);
    }
    for (const affected of affects)
      if (byId.get(affected)?.because.includes(id) !== true)
        problems.push(`${affected} does not state the cause ${id}`);
  }
  const outcomes = report.checks.map(({ outcome, required }) =>
    outcome === 'fail' ? 'invalid' : outcome === 'indeterminate' && required ? 'indeterminate' : 'valid',
  );
  const verdict = (['invalid', 'indeterminate'] as const).find((one) => outcomes.includes(one)) ?? 'valid';
  if (verdict !== report.verdict) problems.push(`the outcomes make ${verdict}, and the verdict is ${report.verdict}`);
  if (verdict !== 'valid' && causesOf(report).length === 0) problems.push('no cause is stated');
  return problems;
}
