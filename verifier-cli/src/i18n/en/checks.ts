import { CHECKS, type CheckId } from '../../findings/check-table.js';

/** What a check asks, in one line. */
export const checks = (id: CheckId): string => CHECKS[id].meaning;
