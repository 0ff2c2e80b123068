import { isAuditingName } from '../../../schemas/evidence/cosignature.js';
import type { VerificationReport } from './report.js';

/**
 * The given witnesses whose valid cosignature over the newest checkpoint states that they recomputed the
 * structure of the ledger up to it. Without one, what a roll-up leaves out is not seen in one package.
 */
export function recomputedBy({ witnesses }: Pick<VerificationReport, 'witnesses'>): readonly string[] {
  return [...new Set(witnesses.cosigned.map(({ name }) => name))].filter(isAuditingName);
}
