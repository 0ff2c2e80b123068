import type { Stated } from '../../findings/finding.js';

/** The text of a finding. */
export const finding = ({ message }: Stated): string => message;
