import { isAuditingName } from '../../../schemas/evidence/cosignature.js';
import type { VerificationReport } from './report.js';

/**
 * The given witnesses whose valid cosignature over the newest checkpoint states that they recomputed the structure of
 * the ledger up to it. Without such a witness, a single package cannot reveal what a roll-up leaves out.
 */
export function recomputedBy({ witnesses }: Pick<VerificationReport, 'witnesses'>): readonly string[] {
  return [...new Set(witnesses.cosigned.map(({ name }) => name))].filter(isAuditingName);
}
