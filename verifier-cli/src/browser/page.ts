import { type ContradictionVerdict, verifyContradiction } from '../compare/contradiction.js';
import { contradictionPage } from '../compare/contradiction-page.js';
import type { Texts } from '../i18n/texts.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import type { ConsentListing } from '../list/listed-consent.js';
import { UnknownFormatVersion } from '../manifest/manifest.js';
import { htmlPage } from '../report/html.js';
import type { Markup } from '../report/markup.js';
import { missingTrust } from '../report/missing-trust.js';
import { asciiJson } from '../report/printable.js';
import type { VerificationReport } from '../report/report.js';
import { reportPage } from '../report/report-page.js';
import { quietVerdict, verdictWording } from '../report/wording.js';
import { NotAPackage, type VerifyOptions, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import { find, onClick, save } from './elements.js';
import { type PageLanguage, startLanguage, startStatusLine } from './language.js';
import { progressText, type Subject, startInputs } from './page-inputs.js';
import { startRecordForm } from './record-form.js';
import { startRecordList } from './record-list.js';
import { renderDom } from './render-dom.js';

/** Result of a check. It is shown in the language of the reader. */
type Checked =
  | { readonly kind: 'package'; readonly report: VerificationReport; readonly listing: ConsentListing }
  | { readonly kind: 'contradiction'; readonly verdict: ContradictionVerdict };

async function verify(subject: Subject, options: VerifyOptions): Promise<Checked> {
  if (subject.kind === 'contradiction')
    return { kind: 'contradiction', verdict: await verifyContradiction(subject.proof, options.ledgerKeys, options.at) };
  const list = new ConsentList(MAX_CONSENTS);
  const report = await verifyPackage(blobSource(subject.file), options, { list });
  return { kind: 'package', report, listing: list.listing };
}

function markupOf(checked: Checked, texts: Texts): Markup {
  return checked.kind === 'contradiction'
    ? contradictionPage(checked.verdict, texts)
    : reportPage(checked.report, texts, checked.listing);
}

function wordingOf(checked: Checked, texts: Texts): string {
  const { page } = texts;
  if (checked.kind === 'contradiction') return page.checkedContradiction(page.contradictions[checked.verdict.outcome]);
  const { report } = checked;
  const wording = verdictWording(report.verdict, report.package.development === true, texts);
  const missing = missingTrust(report, texts);
  return `${page.checked(quietVerdict(wording, texts))}${missing === null ? '' : ` ${missing}`}`;
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
  const status = startStatusLine('status', language);
  const place = find('result', HTMLElement);
  const actions = find('actions', HTMLElement);
  const bar = find('progress', HTMLProgressElement);
  const onChecked: ((isTrustMissing: boolean) => void)[] = [];
  let runs = 0;
  let checked: Checked | null = null;

  /**
   * Runs a verification with the given trust and shows its progress. Shows the result unless other
   * work was started meanwhile.
   * @returns whether the result was shown
   */
  const work = async <T>(run: (options: VerifyOptions) => Promise<T>, show: (result: T) => void): Promise<boolean> => {
    runs += 1;
    const number = runs;
    const options = inputs.options();
    bar.hidden = typeof options === 'function';
    if (typeof options === 'function') {
      status.say(options);
      return false;
    }
    bar.removeAttribute('value');
    const onProgress = (read: number, total: number): void => {
      if (number !== runs || total === 0) return;
      bar.value = read / total;
      const text = (of: Texts): string => progressText(read, total, of);
      bar.setAttribute('aria-valuetext', text(texts()));
      status.say(text);
    };
    try {
      const result = await run({ ...options, onProgress });
      if (number !== runs) return false;
      show(result);
      return true;
    } catch (error) {
      if (number !== runs) return false;
      status.say(({ page }) =>
        error instanceof NotAPackage || error instanceof UnknownFormatVersion
          ? error.message
          : page.unreadable(error instanceof Error ? error.message : page.unknownError),
      );
      return false;
    } finally {
      if (number === runs) bar.hidden = true;
    }
  };

  const recordForm = startRecordForm(language, async (watch, show) => {
    const before = status.said();
    const subject = inputs.subject();
    const isShown = await work(async (options) => {
      if (subject?.kind === 'package')
        await verifyPackage(blobSource(subject.file), options, { watch, list: new ConsentList(MAX_CONSENTS) });
    }, show);
    // The verdict on the package stands; only the progress was said meanwhile.
    if (isShown) status.say(before);
  });

  const showChecked = (): void => {
    if (checked === null) return;
    place.replaceChildren(renderDom(markupOf(checked, texts())));
    if (checked.kind === 'contradiction') return;
    const { listing, report } = checked;
    const options = { texts: texts(), showRecord: recordForm.show };
    startRecordList(place, listing, report.package.development === true, options);
  };

  const present = (result: Checked): void => {
    checked = result;
    showChecked();
    status.say((of) => wordingOf(result, of));
    if (result.kind === 'package') {
      actions.hidden = false;
      recordForm.reset(true);
      for (const listener of onChecked) listener(missingTrust(result.report, texts()) !== null);
    }
    focusVerdict(place);
    if (result.kind === 'contradiction') return;
    const { consents, count } = result.listing;
    if (count === 1 && consents[0] !== undefined) recordForm.show(consents[0].consent_token);
  };

  const check = async (): Promise<void> => {
    const subject = inputs.subject();
    checked = null;
    recordForm.reset(false);
    place.replaceChildren();
    actions.hidden = true;
    status.say(({ page }) => (subject === null ? page.chooseFirst : page.checking));
    if (subject !== null) await work((options) => verify(subject, options), present);
  };

  const inputs = startInputs(
    language,
    () => void check(),
    (name) => status.say(({ page }) => page.ignored(name)),
  );
  onClick('forget', () => location.reload());
  onClick('save-html', () => {
    if (checked?.kind !== 'package') return;
    const { fileTitle } = texts().report;
    save('evidence-report.html', 'text/html', htmlPage(fileTitle, texts().language, markupOf(checked, texts())));
  });
  onClick('save-json', () => {
    if (checked?.kind === 'package') save('evidence-report.json', 'application/json', `${asciiJson(checked.report)}\n`);
  });
  onClick('print', () => window.print());
  language.onChange(showChecked);
  return { language, onChecked: (listener) => onChecked.push(listener) };
}
