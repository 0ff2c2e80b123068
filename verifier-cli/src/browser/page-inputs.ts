import type { Texts } from '../i18n/texts.js';
import { ledgerKeysIn } from '../trust/trust-material.js';
import { typedCertificates } from './given.js';

/** Why the typed text cannot be used; null if it can, or if the fields are empty. */
export function typedProblem(roots: string, keys: string): ((texts: Texts) => string) | null {
  if (roots.trim() !== '' && typedCertificates(roots).length === 0) return ({ page }) => page.notPem;
  if (keys.trim() !== '' && ledgerKeysIn(keys).length === 0) return ({ page }) => page.notKey;
  return null;
}

/** The time in the field, as UTC; now if it is empty. */
export function verificationTime(value: string): Date {
  const time = new Date(`${value}Z`);
  return value === '' || Number.isNaN(time.getTime()) ? new Date() : time;
}

/** A size for people. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** How much of a package was read, in numbers. */
export function progressText(read: number, total: number, { page }: Texts): string {
  const done = Math.min(read, total);
  return page.progress(Math.floor((done / total) * 100), sizeText(done), sizeText(total));
}
