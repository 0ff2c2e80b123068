import { CHECKS, type CheckId } from '../../findings/check-table.js';

/** Description of a check in one line. */
export const checks = (id: CheckId): string => CHECKS[id].meaning;
