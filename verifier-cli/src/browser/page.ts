import './jitless.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { htmlPage } from '../report/html.js';
import { asciiJson } from '../report/printable.js';
import type { VerificationReport } from '../report/report.js';
import { reportPage } from '../report/report-page.js';
import { ledgerKeysIn } from '../trust/trust-material.js';
import { NotAPackage, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import { find, save } from './elements.js';
import { recognise, typedCertificates } from './given.js';
import { renderDom } from './render-dom.js';

const HOUR_MS = 3_600_000;

/** What the reader gave, for as long as the page is open: nothing of it is stored or sent. */
interface Given {
  file: File | null;
  certificates: readonly Uint8Array[];
  keys: readonly VerifierKey[];
}

function start(): void {
  const given: Given = { file: null, certificates: [], keys: [] };
  const fileNotes = {
    package: find('package-note', HTMLElement),
    roots: find('roots-note', HTMLElement),
    keys: find('keys-note', HTMLElement),
  };
  const typedRoots = find('roots-text', HTMLTextAreaElement);
  const typedKeys = find('keys-text', HTMLTextAreaElement);
  const status = find('status', HTMLElement);
  let runs = 0;
  let report: VerificationReport | null = null;

  const take = async (files: Iterable<File>): Promise<void> => {
    for (const file of files) {
      const found = await recognise(file);
      if (found.kind === 'package') {
        given.file = found.file;
        fileNotes.package.textContent = `${file.name} (${sizeText(file.size)})`;
      } else if (found.kind === 'roots') {
        given.certificates = [...given.certificates, ...found.certificates];
        fileNotes.roots.textContent = `${given.certificates.length} from files`;
      } else if (found.kind === 'keys') {
        given.keys = [...given.keys, ...found.keys];
        fileNotes.keys.textContent = given.keys.map(({ name }) => name).join(', ');
      } else {
        status.textContent = `“${file.name}” is no package, certificate or key of a ledger: it was left aside.`;
        return;
      }
    }
    await check();
  };

  const check = async (): Promise<void> => {
    runs += 1;
    const run = runs;
    report = null;
    find('result', HTMLElement).replaceChildren();
    find('actions', HTMLElement).hidden = true;
    if (given.file === null) {
      status.textContent = 'Choose an evidence package first.';
      return;
    }
    const problem = typedProblem(typedRoots.value, typedKeys.value);
    if (problem !== null) {
      status.textContent = problem;
      return;
    }
    status.textContent = 'Checking …';
    const bar = find('progress', HTMLProgressElement);
    bar.hidden = false;
    bar.removeAttribute('value');
    try {
      const found = await verifyPackage(blobSource(given.file), {
        trustAnchors: [...given.certificates, ...typedCertificates(typedRoots.value)],
        ledgerKeys: [...given.keys, ...ledgerKeysIn(typedKeys.value)],
        maxDelay: (find('max-delay', HTMLInputElement).valueAsNumber || 24) * HOUR_MS,
        at: verificationTime(find('at', HTMLInputElement).value),
        onProgress: (read, total) => {
          if (run === runs && total > 0) bar.value = read / total;
        },
      });
      if (run !== runs) return;
      report = found;
      find('result', HTMLElement).replaceChildren(renderDom(reportPage(found)));
      find('actions', HTMLElement).hidden = false;
      status.textContent = `Checked: ${found.verdict}.`;
    } catch (error) {
      if (run !== runs) return;
      status.textContent =
        error instanceof NotAPackage
          ? error.message
          : `The file could not be read: ${error instanceof Error ? error.message : 'unknown error'}`;
    } finally {
      if (run === runs) bar.hidden = true;
    }
  };

  for (const id of ['package', 'roots', 'keys']) {
    const input = find(id, HTMLInputElement);
    input.addEventListener('change', () => {
      void take([...(input.files ?? [])]);
      input.value = '';
    });
  }
  for (const input of [typedRoots, typedKeys, find('max-delay', HTMLInputElement), find('at', HTMLInputElement)])
    input.addEventListener('change', () => void check());
  find('form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void check();
  });
  find('forget', HTMLButtonElement).addEventListener('click', () => location.reload());
  find('save-html', HTMLButtonElement).addEventListener('click', () => {
    if (report !== null) save('evidence-report.html', 'text/html', htmlPage('Evidence of consent', reportPage(report)));
  });
  find('save-json', HTMLButtonElement).addEventListener('click', () => {
    if (report !== null) save('evidence-report.json', 'application/json', `${asciiJson(report)}\n`);
  });
  find('print', HTMLButtonElement).addEventListener('click', () => window.print());

  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dragging');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('dragging');
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dragging');
    void take([...(event.dataTransfer?.files ?? [])]);
  });
}

/** Why what was typed cannot be used; null if it can, or nothing was typed. */
function typedProblem(roots: string, keys: string): string | null {
  if (roots.trim() !== '' && typedCertificates(roots).length === 0)
    return 'What was typed as root certificate is no certificate in PEM.';
  if (keys.trim() !== '' && ledgerKeysIn(keys).length === 0)
    return 'What was typed as key of the ledger is no verifier-key line (<name>+<id>+<key>).';
  return null;
}

/** The time in the field, as UTC; now if it is empty. */
function verificationTime(value: string): Date {
  const time = new Date(`${value}Z`);
  return value === '' || Number.isNaN(time.getTime()) ? new Date() : time;
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

start();
