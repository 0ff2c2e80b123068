import './jitless.js';
import type { Contradiction } from '../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyContradiction } from '../compare/contradiction.js';
import { contradictionPage } from '../compare/contradiction-page.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import type { ConsentListing } from '../list/listed-consent.js';
import { UnknownFormatVersion } from '../manifest/manifest.js';
import { htmlPage } from '../report/html.js';
import { asciiJson } from '../report/printable.js';
import type { VerificationReport } from '../report/report.js';
import { reportPage } from '../report/report-page.js';
import { verdictWording } from '../report/wording.js';
import { ledgerKeysIn } from '../trust/trust-material.js';
import { NotAPackage, type VerifyOptions, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import { find, save } from './elements.js';
import { type Given, recognise, typedCertificates } from './given.js';
import { progressText, sizeText, typedProblem, verificationTime } from './page-inputs.js';
import { startRecordForm } from './record-form.js';
import { startRecordList } from './record-list.js';
import { renderDom } from './render-dom.js';

const HOUR_MS = 3_600_000;

/** The file to check. */
type Subject = Extract<Given, { kind: 'package' | 'contradiction' }>;

/** The reader's input while the page is open: it is neither stored nor sent. */
interface Held {
  subject: Subject | null;
  certificates: readonly Uint8Array[];
  keys: readonly VerifierKey[];
}

/** The limit in a field, in milliseconds; nothing if the field is empty. */
function hoursIn(id: string, name: 'maxDelay' | 'maxAge'): Partial<VerifyOptions> {
  const hours = find(id, HTMLInputElement).valueAsNumber;
  return Number.isNaN(hours) ? {} : { [name]: hours * HOUR_MS };
}

/** Moves the focus to the verdict, so that a screen reader reads it first, and the page shows it. */
function focusVerdict(place: HTMLElement): void {
  const banner = place.querySelector<HTMLElement>('.verdict');
  if (banner === null) return;
  banner.tabIndex = -1;
  banner.focus();
}

function start(): void {
  const held: Held = { subject: null, certificates: [], keys: [] };
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
  let listing: ConsentListing | null = null;

  const take = async (files: Iterable<File>): Promise<void> => {
    for (const file of files) {
      const found = await recognise(file);
      if (found.kind === 'package' || found.kind === 'contradiction') {
        held.subject = found;
        fileNotes.package.textContent = `${file.name} (${sizeText(file.size)})`;
      } else if (found.kind === 'roots') {
        held.certificates = [...held.certificates, ...found.certificates];
        fileNotes.roots.textContent = `${held.certificates.length} from files`;
      } else if (found.kind === 'keys') {
        held.keys = [...held.keys, ...found.keys];
        fileNotes.keys.textContent = held.keys.map(({ name }) => name).join(', ');
      } else {
        status.textContent = `“${file.name}” was ignored: it is not a package, a contradiction proof, a certificate or a ledger key.`;
        return;
      }
    }
    await check();
  };

  /**
   * Runs a verification with the given trust and shows its progress. Calls the returned function
   * unless other work was started meanwhile.
   */
  const work = async (verify: (options: VerifyOptions) => Promise<() => void>): Promise<void> => {
    runs += 1;
    const run = runs;
    const bar = find('progress', HTMLProgressElement);
    const problem = typedProblem(typedRoots.value, typedKeys.value);
    if (problem !== null) {
      bar.hidden = true;
      status.textContent = problem;
      return;
    }
    bar.hidden = false;
    bar.removeAttribute('value');
    try {
      const show = await verify({
        trustAnchors: [...held.certificates, ...typedCertificates(typedRoots.value)],
        ledgerKeys: [...held.keys, ...ledgerKeysIn(typedKeys.value)],
        ...hoursIn('max-delay', 'maxDelay'),
        ...hoursIn('max-age', 'maxAge'),
        requireStamps: find('require-stamps', HTMLInputElement).valueAsNumber || 1,
        at: verificationTime(find('at', HTMLInputElement).value),
        onProgress: (read, total) => {
          if (run !== runs || total === 0) return;
          bar.value = read / total;
          status.textContent = `Checking … ${progressText(read, total)}`;
        },
      });
      if (run === runs) show();
    } catch (error) {
      if (run !== runs) return;
      status.textContent =
        error instanceof NotAPackage || error instanceof UnknownFormatVersion
          ? error.message
          : `The file could not be read: ${error instanceof Error ? error.message : 'unknown error'}`;
    } finally {
      if (run === runs) bar.hidden = true;
    }
  };

  const recordForm = startRecordForm((watch, show) =>
    work(async (options) => {
      if (held.subject?.kind === 'package')
        await verifyPackage(blobSource(held.subject.file), options, { watch, list: new ConsentList(MAX_CONSENTS) });
      return show;
    }),
  );

  const check = async (): Promise<void> => {
    const { subject } = held;
    report = null;
    listing = null;
    recordForm.reset(false);
    find('result', HTMLElement).replaceChildren();
    find('actions', HTMLElement).hidden = true;
    if (subject === null) {
      status.textContent = 'Choose an evidence package first.';
      return;
    }
    status.textContent = 'Checking …';
    await work(subject.kind === 'package' ? checkPackage(subject.file) : checkContradiction(subject.proof));
  };

  const checkPackage = (file: File) => async (options: VerifyOptions) => {
    const list = new ConsentList(MAX_CONSENTS);
    const found = await verifyPackage(blobSource(file), options, { list });
    return () => {
      report = found;
      listing = list.listing;
      const place = find('result', HTMLElement);
      place.replaceChildren(renderDom(reportPage(found, listing)));
      startRecordList(place, listing, found.package.development === true, recordForm.show);
      find('actions', HTMLElement).hidden = false;
      recordForm.reset(true);
      const { word } = verdictWording(found.verdict, found.package.development === true);
      status.textContent = `Checked: ${word.toLowerCase()}.`;
      focusVerdict(place);
      const [only] = listing.consents;
      if (listing.count === 1 && only !== undefined) recordForm.show(only.consent_token);
    };
  };

  const checkContradiction = (proof: Contradiction) => async (options: VerifyOptions) => {
    const verdict = await verifyContradiction(proof, options.ledgerKeys);
    return () => {
      const place = find('result', HTMLElement);
      place.replaceChildren(renderDom(contradictionPage(verdict)));
      status.textContent = `Checked the contradiction proof: ${verdict.outcome.replace('-', ' ')}.`;
      focusVerdict(place);
    };
  };

  for (const id of ['package', 'roots', 'keys']) {
    const input = find(id, HTMLInputElement);
    input.addEventListener('change', () => {
      void take([...(input.files ?? [])]);
      input.value = '';
    });
  }
  const options = ['max-delay', 'max-age', 'require-stamps', 'at'].map((id) => find(id, HTMLInputElement));
  for (const input of [typedRoots, typedKeys, ...options]) input.addEventListener('change', () => void check());
  find('form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void check();
  });
  find('forget', HTMLButtonElement).addEventListener('click', () => location.reload());
  find('save-html', HTMLButtonElement).addEventListener('click', () => {
    if (report !== null)
      save('evidence-report.html', 'text/html', htmlPage('Evidence of consent', reportPage(report, listing)));
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

start();
