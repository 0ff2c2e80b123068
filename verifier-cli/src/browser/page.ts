import type { Contradiction } from '../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { ContradictionVerdict } from '../compare/contradiction.js';
import { verifyContradiction } from '../compare/contradiction.js';
import { contradictionPage } from '../compare/contradiction-page.js';
import type { Texts } from '../i18n/texts.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import type { ConsentListing } from '../list/listed-consent.js';
import { UnknownFormatVersion } from '../manifest/manifest.js';
import { htmlPage } from '../report/html.js';
import { missingTrust } from '../report/missing-trust.js';
import { asciiJson } from '../report/printable.js';
import type { VerificationReport } from '../report/report.js';
import { reportPage } from '../report/report-page.js';
import { quietVerdict, verdictWording } from '../report/wording.js';
import { ledgerKeysIn } from '../trust/trust-material.js';
import { NotAPackage, type VerifyOptions, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import { find, save } from './elements.js';
import { type Given, recognise, typedCertificates } from './given.js';
import { type PageLanguage, startLanguage } from './language.js';
import { progressText, sizeText, typedProblem, verificationTime } from './page-inputs.js';
import { startRecordForm } from './record-form.js';
import { startRecordList } from './record-list.js';
import { renderDom } from './render-dom.js';

const HOUR_MS = 3_600_000;

/** The file to check. */
type Subject = Extract<Given, { kind: 'package' | 'contradiction' }>;

/** Result of a check. It is shown in the language of the reader. */
type Checked =
  | { readonly kind: 'package'; readonly report: VerificationReport; readonly listing: ConsentListing }
  | { readonly kind: 'contradiction'; readonly verdict: ContradictionVerdict };

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

/** The page, for the parts that only the service serves. */
export interface StartedPage {
  readonly language: PageLanguage;
  /** @param listener learns of every check whether a ledger key or a root certificate was missing */
  readonly onChecked: (listener: (isTrustMissing: boolean) => void) => void;
}

/** Starts the page. */
export function startPage(): StartedPage {
  const language = startLanguage();
  const { texts } = language;
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
  const onChecked: ((isTrustMissing: boolean) => void)[] = [];
  let checked: Checked | null = null;
  let said: (texts: Texts) => string = () => '';
  const say = (text: (texts: Texts) => string): void => {
    said = text;
    status.textContent = text(texts());
  };
  const note = (): void => {
    const count = held.certificates.length;
    fileNotes.roots.textContent = count === 0 ? '' : texts().page.fromFiles(count);
  };

  const take = async (files: Iterable<File>): Promise<void> => {
    for (const file of files) {
      const found = await recognise(file);
      if (found.kind === 'package' || found.kind === 'contradiction') {
        held.subject = found;
        fileNotes.package.textContent = `${file.name} (${sizeText(file.size)})`;
      } else if (found.kind === 'roots') {
        held.certificates = [...held.certificates, ...found.certificates];
        note();
      } else if (found.kind === 'keys') {
        held.keys = [...held.keys, ...found.keys];
        fileNotes.keys.textContent = held.keys.map(({ name }) => name).join(', ');
      } else {
        say(({ page }) => page.ignored(file.name));
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
      say(problem);
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
          const text = (of: Texts): string => progressText(read, total, of);
          bar.setAttribute('aria-valuetext', text(texts()));
          say(text);
        },
      });
      if (run === runs) show();
    } catch (error) {
      if (run !== runs) return;
      say(({ page }) =>
        error instanceof NotAPackage || error instanceof UnknownFormatVersion
          ? error.message
          : page.unreadable(error instanceof Error ? error.message : page.unknownError),
      );
    } finally {
      if (run === runs) bar.hidden = true;
    }
  };

  const recordForm = startRecordForm(language, async (watch, show) => {
    const before = said;
    const run = runs + 1;
    let isShown = false;
    await work(async (options) => {
      if (held.subject?.kind === 'package')
        await verifyPackage(blobSource(held.subject.file), options, { watch, list: new ConsentList(MAX_CONSENTS) });
      return () => {
        isShown = true;
        show();
      };
    });
    // The verdict on the package stands; only the progress was said meanwhile.
    if (run === runs && isShown) say(before);
  });

  const check = async (): Promise<void> => {
    const { subject } = held;
    checked = null;
    recordForm.reset(false);
    find('result', HTMLElement).replaceChildren();
    find('actions', HTMLElement).hidden = true;
    if (subject === null) {
      say(({ page }) => page.chooseFirst);
      return;
    }
    say(({ page }) => page.checking);
    await work(subject.kind === 'package' ? checkPackage(subject.file) : checkContradiction(subject.proof));
  };

  const showChecked = (): void => {
    if (checked === null) return;
    const place = find('result', HTMLElement);
    if (checked.kind === 'contradiction') {
      place.replaceChildren(renderDom(contradictionPage(checked.verdict, texts())));
      return;
    }
    const { report, listing } = checked;
    place.replaceChildren(renderDom(reportPage(report, texts(), listing)));
    startRecordList(place, listing, report.package.development === true, {
      texts: texts(),
      showRecord: recordForm.show,
    });
  };

  const checkPackage = (file: File) => async (options: VerifyOptions) => {
    const list = new ConsentList(MAX_CONSENTS);
    const found = await verifyPackage(blobSource(file), options, { list });
    return () => {
      const { listing } = list;
      checked = { kind: 'package', report: found, listing };
      showChecked();
      find('actions', HTMLElement).hidden = false;
      recordForm.reset(true);
      say((of) => {
        const wording = verdictWording(found.verdict, found.package.development === true, of);
        const missing = missingTrust(found, of);
        return `${of.page.checked(quietVerdict(wording, of))}${missing === null ? '' : ` ${missing}`}`;
      });
      for (const listener of onChecked) listener(missingTrust(found, texts()) !== null);
      focusVerdict(find('result', HTMLElement));
      const [only] = listing.consents;
      if (listing.count === 1 && only !== undefined) recordForm.show(only.consent_token);
    };
  };

  const checkContradiction = (proof: Contradiction) => async (options: VerifyOptions) => {
    const verdict = await verifyContradiction(proof, options.ledgerKeys);
    return () => {
      checked = { kind: 'contradiction', verdict };
      showChecked();
      say(({ page }) => page.checkedContradiction(page.contradictions[verdict.outcome]));
      focusVerdict(find('result', HTMLElement));
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
    if (checked?.kind !== 'package') return;
    const { fileTitle } = texts().report;
    const content = reportPage(checked.report, texts(), checked.listing);
    save('evidence-report.html', 'text/html', htmlPage(fileTitle, texts().language, content));
  });
  find('save-json', HTMLButtonElement).addEventListener('click', () => {
    if (checked?.kind === 'package') save('evidence-report.json', 'application/json', `${asciiJson(checked.report)}\n`);
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
  language.onChange(() => {
    note();
    say(said);
    showChecked();
  });
  return { language, onChecked: (listener) => onChecked.push(listener) };
}
