import type { Stated } from '../../findings/finding.js';

/** The text of a finding; null if there is none in this language. */
export const finding = ({ message }: Stated): string | null => message;
