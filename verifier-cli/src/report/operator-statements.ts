import type { QualifiedStamps } from '../../../schemas/events/ledger-policy.js';
import { organizationNamed } from '../../../schemas/rfc3161/x509/names.js';
import type { Texts } from '../i18n/texts.js';
import type { PolicyInForce } from '../policy/policies.js';
import type { Stamps } from '../timestamps/stamp.js';

/** What the policy in force states of the operator. The ledger proves that it was stated, and not that it is true. */
export interface ReportedOperator {
  /** Null if nothing is stated. */
  readonly legal_name: string | null;
  /** Those of the stated authorities that made one of the valid stamps. */
  readonly qualified_stamps: Readonly<QualifiedStamps>;
}

/** @param stamps the stamps that are shown beside the statement */
export function reportedOperator({ stated }: PolicyInForce, stamps: Stamps): ReportedOperator {
  const made = new Set(stamps.flatMap(({ report }) => (report.outcome === 'pass' ? [report.organization] : [])));
  return {
    legal_name: stated.operator?.legal_name ?? null,
    qualified_stamps: (stated.qualified_stamps ?? []).filter((one) => made.has(organizationNamed(one.organization))),
  };
}

/** Names and values for readers. @param operator null if the evidence is invalid, which proves no statement */
export function operatorLines(operator: ReportedOperator | null, { evidence, words }: Texts): [string, string][] {
  if (operator === null) return [[evidence.operator, words.notProved]];
  return [
    [evidence.operator, operator.legal_name ?? evidence.notStated],
    ...operator.qualified_stamps.map(({ organization, trusted_list: list }): [string, string] => [
      evidence.qualified,
      evidence.qualifiedBy(organization, list),
    ]),
  ];
}
