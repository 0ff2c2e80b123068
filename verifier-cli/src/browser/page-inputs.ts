import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { Texts } from '../i18n/texts.js';
import type { GivenPromise } from '../promises/promised-records.js';
import type { TrustSource } from '../rendering/wording.js';
import type { TrustFile } from '../trust/trust-file.js';
import { distinctKeys, ledgerKeysIn, witnessKeysIn } from '../trust/trust-material.js';
import type { VerifyOptions } from '../verify-package.js';
import { find } from './elements.js';
import { type Given, recognise, typedCertificates } from './given.js';
import { type PageLanguage, startStatusLine, type Wording } from './language.js';

const HOUR_MS = 3_600_000;

/** The file to check. A checkpoint note alone can only be compared. */
export type Subject = Extract<Given, { kind: 'package' | 'contradiction' | 'note' }>;

/** The second file of a comparison. */
export type Compared = Extract<Given, { kind: 'package' | 'note' }>;

/** The reader's input while the page is open: it is neither stored nor sent. */
export interface Inputs {
  /** Null if none was given. */
  readonly subject: () => Subject | null;
  /** Null if nothing is to be compared. */
  readonly compared: () => Compared | null;
  /** Consistency proofs for the comparison. */
  readonly proofs: () => readonly ConsistencyLine[];
  /**
   * Takes the ledger keys and root certificates that the service publishes. They only count if the reader gave none of
   * that kind.
   */
  readonly publish: (files: readonly File[]) => Promise<void>;
  /** Says whose key and root certificates the next check uses. */
  readonly trust: () => TrustSource;
  /** @returns why the typed text cannot be used, if it cannot */
  readonly options: () => Omit<VerifyOptions, 'onProgress'> | Wording;
}

/** Fields that take files. Each accepts any kind, because the content says what a file is. */
const FILE_FIELDS = ['package', 'roots', 'keys', 'promises', 'witnesses', 'compare', 'consistency'] as const;
const TYPED_FIELDS = ['person', 'max-delay', 'max-age', 'require-stamps', 'require-witnesses', 'at'] as const;

/**
 * Field that the reader chose for a file. If there are two packages, only the reader knows which one to compare with.
 */
type Place = 'compare' | 'anywhere';

/**
 * Takes chosen and dropped files, and typed text.
 * @param onChange called when the input is to be checked
 * @param onIgnored called with the name of a file that cannot be used
 */
export function startInputs(
  language: PageLanguage,
  onChange: () => void,
  onIgnored: (fileName: string) => void,
): Inputs {
  let subject: Subject | null = null;
  let compared: Compared | null = null;
  const certificates: Uint8Array[] = [];
  const keys: VerifierKey[] = [];
  const witnessKeys: VerifierKey[] = [];
  /** The newest trust policy. A string states why it cannot be used. */
  let trust: TrustFile | string | null = null;
  const published: { certificates: readonly Uint8Array[]; keys: readonly VerifierKey[] } = {
    certificates: [],
    keys: [],
  };
  const promises: GivenPromise[] = [];
  const proofs: ConsistencyLine[] = [];
  const note = (field: (typeof FILE_FIELDS)[number]) => find(`${field}-note`, HTMLElement);
  const rootsNote = startStatusLine('roots-note', language);
  const trustNote = startStatusLine('trust-note', language);
  const typedRoots = find('roots-text', HTMLTextAreaElement);
  const typedKeys = find('keys-text', HTMLTextAreaElement);
  const typedWitnesses = find('witnesses-text', HTMLTextAreaElement);

  /** Shows the names of the checked files even while the inputs are folded. */
  const nameFiles = (): void => {
    const names = [subject, compared].flatMap((one) => one?.file.name ?? []);
    find('given-files', HTMLElement).textContent = names.length === 0 ? '' : `(${names.join(', ')})`;
  };
  const takeSubject = (found: Subject): void => {
    subject = found;
    nameFiles();
    note('package').textContent = sizedName(found.file);
  };
  const takeCompared = (found: Compared): void => {
    compared = found;
    nameFiles();
    note('compare').textContent = sizedName(found.file);
  };
  /** @param isSecond whether the same selection already contained a file to check */
  const takeOne = (found: Given, place: Place, isSecond: boolean): void => {
    switch (found.kind) {
      case 'contradiction':
        takeSubject(found);
        break;
      case 'package':
      case 'note':
        if (place === 'compare' || isSecond || (found.kind === 'note' && subject !== null)) takeCompared(found);
        else {
          if (found.kind === 'package' && subject?.kind === 'note' && compared === null) takeCompared(subject);
          takeSubject(found);
        }
        break;
      case 'roots':
        certificates.push(...found.certificates);
        rootsNote.say(({ page }) => page.fromFiles(certificates.length));
        break;
      case 'keys':
        keys.push(...found.keys);
        witnessKeys.push(...found.witnessKeys);
        note('keys').textContent = namesOf(keys);
        note('witnesses').textContent = namesOf(witnessKeys);
        break;
      case 'trust':
        trust = found.trust;
        trustNote.say(({ page }) => page.trustFrom(found.name));
        break;
      case 'promise':
        if (!promises.some(({ promise }) => promise.text === found.given.promise.text)) promises.push(found.given);
        note('promises').textContent = promises.map(({ file }) => file).join(', ');
        break;
      case 'consistency':
        proofs.push(...found.proofs);
        note('consistency').textContent = proofs.map(({ from, to }) => `${from} – ${to}`).join(', ');
        break;
      case 'unknown':
        break;
    }
  };
  const take = async (files: Iterable<File>, place: Place): Promise<void> => {
    let hasSubject = false;
    for (const file of files) {
      const found = await recognise(file);
      if (found.kind === 'unknown') {
        onIgnored(file.name);
        return;
      }
      takeOne(found, place, hasSubject);
      hasSubject ||= found.kind === 'package' || found.kind === 'note';
    }
    onChange();
  };

  for (const id of FILE_FIELDS) {
    const input = find(id, HTMLInputElement);
    const takeChosen = (): void => {
      void take([...(input.files ?? [])], placeOf(input));
      input.value = '';
    };
    input.addEventListener('change', takeChosen);
    // The reader may have chosen before this script was there.
    if (input.files?.length) takeChosen();
  }
  const typed = TYPED_FIELDS.map((id) => find(id, HTMLInputElement));
  for (const input of [typedRoots, typedKeys, typedWitnesses, ...typed]) input.addEventListener('change', onChange);
  find('form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    onChange();
  });
  onDrop(take);
  /** The reader's own keys and root certificates; of a kind that the reader did not give, those of the service. */
  const trusted = () => {
    const policy = typeof trust === 'string' ? null : trust;
    const ownRoots = [...certificates, ...typedCertificates(typedRoots.value), ...(policy?.trustAnchors ?? [])];
    const ownKeys = [...keys, ...ledgerKeysIn(typedKeys.value), ...(policy?.ledgerKeys ?? [])];
    const roots = ownRoots.length > 0 ? ownRoots : published.certificates;
    const ledgerKeys = ownKeys.length > 0 ? ownKeys : published.keys;
    const isPublished = roots.length > ownRoots.length || ledgerKeys.length > ownKeys.length;
    const source: TrustSource = isPublished ? 'operator' : 'reader';
    return { source, policy, trustAnchors: roots, ledgerKeys };
  };
  const options = (): Omit<VerifyOptions, 'onProgress'> | Wording => {
    const witnesses = distinctKeys([...witnessKeys, ...witnessKeysIn(typedWitnesses.value)]);
    const required = numberIn('require-witnesses');
    const person = find('person', HTMLInputElement).value.trim();
    const names = new Set(witnesses.map(({ name }) => name)).size;
    const problem =
      typedProblem(typedRoots.value, typedKeys.value, typedWitnesses.value) ??
      trustProblem(trust) ??
      (required !== null && required > names ? ({ page }: Texts) => page.tooFewWitnessKeys(required, names) : null);
    if (problem !== null) return problem;
    const { policy, trustAnchors, ledgerKeys } = trusted();
    return {
      trustAnchors,
      ledgerKeys,
      witnesses: policy?.witnesses ?? { keys: witnesses, required },
      promises,
      ...(person !== '' && { person }),
      ...hoursIn('max-delay', 'maxDelay'),
      ...hoursIn('max-age', 'maxAge'),
      requireStamps: numberIn('require-stamps') ?? 1,
      at: verificationTime(find('at', HTMLInputElement).value),
    };
  };
  return {
    subject: () => subject,
    compared: () => compared,
    proofs: () => proofs,
    options,
    trust: () => trusted().source,
    publish: async (files) => {
      for (const file of files) {
        const found = await recognise(file);
        if (found.kind === 'roots') published.certificates = found.certificates;
        if (found.kind === 'keys') published.keys = found.keys;
      }
    },
  };
}

function onDrop(take: (files: Iterable<File>, place: Place) => Promise<void>): void {
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
    void take([...(event.dataTransfer?.files ?? [])], placeOf(event.target));
  });
}

/** Returns the role of a field that files were chosen in or dropped on. */
function placeOf(target: EventTarget | null): Place {
  const field = target instanceof Element ? target.closest('.field') : null;
  return field?.querySelector(':scope > #compare') != null ? 'compare' : 'anywhere';
}

function sizedName({ name, size }: File): string {
  return `${name} (${sizeText(size)})`;
}

function namesOf(keys: readonly VerifierKey[]): string {
  return keys.map(({ name }) => name).join(', ');
}

/** Why the typed text cannot be used. Null if it can, or if the fields are empty. */
function typedProblem(roots: string, keys: string, witnesses: string): Wording | null {
  if (roots.trim() !== '' && typedCertificates(roots).length === 0) return ({ page }) => page.notPem;
  if (keys.trim() !== '' && ledgerKeysIn(keys).length === 0) return ({ page }) => page.notKey;
  if (witnesses.trim() !== '' && witnessKeysIn(witnesses).length === 0) return ({ page }) => page.notWitnessKey;
  return null;
}

/** Why the trust policy cannot be used. Null if it can, or if none was given. */
function trustProblem(trust: TrustFile | string | null): Wording | null {
  return typeof trust === 'string' ? ({ page }) => page.trustMalformed(trust) : null;
}

/** The number in a field, or null if the field is empty. */
function numberIn(id: string): number | null {
  const { valueAsNumber: value } = find(id, HTMLInputElement);
  return Number.isNaN(value) ? null : value;
}

/** Returns the limit in a field as an option, in milliseconds, or no option if the field is empty. */
function hoursIn(id: string, name: 'maxDelay' | 'maxAge'): Partial<VerifyOptions> {
  const hours = numberIn(id);
  return hours === null ? {} : { [name]: hours * HOUR_MS };
}

/** The time in the field as UTC, or the current time if the field is empty. */
function verificationTime(value: string): Date {
  const time = new Date(`${value}Z`);
  return value === '' || Number.isNaN(time.getTime()) ? new Date() : time;
}

/** A size as readable text. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** The numbers that say how much of a package was read. */
export function progressText(read: number, total: number, { page }: Texts): string {
  const done = Math.min(read, total);
  return page.progress(Math.floor((done / total) * 100), sizeText(done), sizeText(total));
}
