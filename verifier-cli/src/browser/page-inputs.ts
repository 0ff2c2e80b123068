import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { Texts } from '../i18n/texts.js';
import type { TrustFile } from '../trust/trust-file.js';
import { ledgerKeysIn } from '../trust/trust-material.js';
import type { VerifyOptions } from '../verify-package.js';
import { find } from './elements.js';
import { type Given, recognise, typedCertificates } from './given.js';
import { type PageLanguage, startStatusLine, type Wording } from './language.js';

const HOUR_MS = 3_600_000;

/** The file to check. */
export type Subject = Extract<Given, { kind: 'package' | 'contradiction' }>;

/** The reader's input while the page is open: it is neither stored nor sent. */
export interface Inputs {
  /** Null: none was given. */
  readonly subject: () => Subject | null;
  /** @returns why the typed text cannot be used, if it cannot */
  readonly options: () => Omit<VerifyOptions, 'onProgress'> | Wording;
}

/**
 * Takes chosen and dropped files, and what is typed.
 * @param onChange called when the input is to be checked
 * @param onIgnored called with the name of a file that is of no use
 */
export function startInputs(
  language: PageLanguage,
  onChange: () => void,
  onIgnored: (fileName: string) => void,
): Inputs {
  let subject: Subject | null = null;
  const certificates: Uint8Array[] = [];
  const keys: VerifierKey[] = [];
  /** The newest trust policy. A string states why it cannot be used. */
  let trust: TrustFile | string | null = null;
  const subjectNote = find('package-note', HTMLElement);
  const rootsNote = startStatusLine('roots-note', language);
  const trustNote = startStatusLine('trust-note', language);
  const keysNote = find('keys-note', HTMLElement);
  const typedRoots = find('roots-text', HTMLTextAreaElement);
  const typedKeys = find('keys-text', HTMLTextAreaElement);

  const take = async (files: Iterable<File>): Promise<void> => {
    for (const file of files) {
      const found = await recognise(file);
      if (found.kind === 'package' || found.kind === 'contradiction') {
        subject = found;
        subjectNote.textContent = `${file.name} (${sizeText(file.size)})`;
      } else if (found.kind === 'roots') {
        certificates.push(...found.certificates);
        rootsNote.say(({ page }) => page.fromFiles(certificates.length));
      } else if (found.kind === 'keys') {
        keys.push(...found.keys);
        keysNote.textContent = keys.map(({ name }) => name).join(', ');
      } else if (found.kind === 'trust') {
        trust = found.trust;
        trustNote.say(({ page }) => page.trustFrom(file.name));
      } else {
        onIgnored(file.name);
        return;
      }
    }
    onChange();
  };

  for (const id of ['package', 'roots', 'keys']) {
    const input = find(id, HTMLInputElement);
    input.addEventListener('change', () => {
      void take([...(input.files ?? [])]);
      input.value = '';
    });
  }
  const limits = ['max-delay', 'max-age', 'require-stamps', 'at'].map((id) => find(id, HTMLInputElement));
  for (const input of [typedRoots, typedKeys, ...limits]) input.addEventListener('change', onChange);
  find('form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    onChange();
  });
  onDrop(take);
  return {
    subject: () => subject,
    options: () => {
      const problem = typedProblem(typedRoots.value, typedKeys.value) ?? trustProblem(trust);
      if (problem !== null) return problem;
      const policy = typeof trust === 'string' ? null : trust;
      return {
        trustAnchors: [...certificates, ...typedCertificates(typedRoots.value), ...(policy?.trustAnchors ?? [])],
        ledgerKeys: [...keys, ...ledgerKeysIn(typedKeys.value), ...(policy?.ledgerKeys ?? [])],
        ...(policy !== null && { witnesses: policy.witnesses }),
        ...hoursIn('max-delay', 'maxDelay'),
        ...hoursIn('max-age', 'maxAge'),
        requireStamps: find('require-stamps', HTMLInputElement).valueAsNumber || 1,
        at: verificationTime(find('at', HTMLInputElement).value),
      };
    },
  };
}

function onDrop(take: (files: Iterable<File>) => Promise<void>): void {
  const { classList } = document.body;
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    classList.add('dragging');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) classList.remove('dragging');
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    classList.remove('dragging');
    void take([...(event.dataTransfer?.files ?? [])]);
  });
}

/** Why the typed text cannot be used; null if it can, or if the fields are empty. */
function typedProblem(roots: string, keys: string): Wording | null {
  if (roots.trim() !== '' && typedCertificates(roots).length === 0) return ({ page }) => page.notPem;
  if (keys.trim() !== '' && ledgerKeysIn(keys).length === 0) return ({ page }) => page.notKey;
  return null;
}

/** Why the trust policy cannot be used; null if it can, or if none was given. */
function trustProblem(trust: TrustFile | string | null): Wording | null {
  return typeof trust === 'string' ? ({ page }) => page.trustMalformed(trust) : null;
}

/** The limit in a field, in milliseconds; nothing if the field is empty. */
function hoursIn(id: string, name: 'maxDelay' | 'maxAge'): Partial<VerifyOptions> {
  const hours = find(id, HTMLInputElement).valueAsNumber;
  return Number.isNaN(hours) ? {} : { [name]: hours * HOUR_MS };
}

/** The time in the field, as UTC; now if it is empty. */
function verificationTime(value: string): Date {
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
