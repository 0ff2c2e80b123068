import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import { stated } from '../findings/finding.js';
import type { Texts } from '../i18n/texts.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import { UnknownFormatVersion } from '../manifest/manifest.js';
import { element, type Markup } from '../rendering/markup.js';
import { asciiJson } from '../rendering/printable.js';
import type { TrustSource } from '../rendering/wording.js';
import { htmlPage } from '../report/html.js';
import { missingTrust } from '../report/missing-trust.js';
import type { ShownRecord } from '../show/shown-record.js';
import { NotAPackage, type VerifyOptions, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import { type Checked, checkFiles, dataOf, NotComparableFile, partsOf, proofIn, wordingOf } from './checked.js';
import { find, onClick, save } from './elements.js';
import { type PageLanguage, startStatusLine } from './language.js';
import { type Inputs, progressText, startInputs } from './page-inputs.js';
import { type CheckedSubject, startRecordForm } from './record-form.js';
import { startRecordList } from './record-list.js';
import { renderDom } from './render-dom.js';

/** Moves the focus to the verdict, so that a screen reader reads it first, and shows it at the top. */
function focusVerdict(place: HTMLElement): void {
  const banner = place.querySelector<HTMLElement>('.verdict');
  if (banner === null) return;
  banner.tabIndex = -1;
  banner.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

type CheckedListener = (isTrustMissing: boolean, trust: TrustSource) => void;

/** The page, for the parts that only the service serves. */
export interface StartedPage {
  readonly language: PageLanguage;
  /** Takes the keys and root certificates that the service publishes, and checks the file again if there is one. */
  readonly publish: Inputs['publish'];
  /**
   * @param listener a function that is told after every check whether a ledger key or a root certificate was missing,
   *   and whose were used
   */
  readonly onChecked: (listener: CheckedListener) => void;
  /** @param listener a function that gets each record that the page shows */
  readonly onRecord: (listener: (shown: ShownRecord) => void) => void;
}

/** Starts the page. */
export function startPage(language: PageLanguage): StartedPage {
  const { texts } = language;
  const status = startStatusLine('status', language);
  const [top, place] = [find('verdict', HTMLElement), find('result', HTMLElement)];
  const [intro, inputFields] = [find('intro', HTMLElement), find('inputs', HTMLDetailsElement)];
  const [saveProof, saveBreach] = [find('save-proof', HTMLButtonElement), find('save-breach', HTMLButtonElement)];
  const actions = find('actions', HTMLElement);
  const bar = find('progress', HTMLProgressElement);
  const onChecked: CheckedListener[] = [];
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
      status.say(({ page, finding }) =>
        error instanceof NotAPackage || error instanceof UnknownFormatVersion
          ? finding(stated(error.reason), 'page')
          : error instanceof NotComparableFile
            ? page.notComparable(error.file)
            : page.unreadable(error instanceof Error ? error.message : page.unknownError),
      );
      return false;
    } finally {
      if (number === runs) bar.hidden = true;
    }
  };

  const checkedSubject = (): CheckedSubject | null => {
    const subject = inputs.subject();
    return subject?.kind === 'package' && checked?.kind === 'package'
      ? { file: subject.file, trust: checked.trust }
      : null;
  };
  const recordForm = startRecordForm(language, checkedSubject, async (watch, show) => {
    const before = status.said();
    const subject = inputs.subject();
    const isShown = await work(async (options) => {
      if (subject?.kind === 'package')
        await verifyPackage(blobSource(subject.file), options, { watch, list: new ConsentList(MAX_CONSENTS) });
    }, show);
    // The verdict on the package is unchanged; only the progress was shown meanwhile.
    if (isShown) status.say(before);
  });

  const showChecked = (): void => {
    if (checked === null) return;
    const { head, body } = partsOf(checked, texts());
    const article = (children: readonly Markup[]): Node =>
      renderDom(element('article', { lang: texts().language }, ...children));
    top.replaceChildren(article(head));
    place.replaceChildren(...(body.length === 0 ? [] : [article(body)]));
    if (checked.kind !== 'package') return;
    const { listing, report } = checked;
    const options = { texts: texts(), showRecord: recordForm.show };
    startRecordList(place, listing, report.package.development === true, options);
  };

  /** Shows the result, or only the inputs. */
  const fold = (isFolded: boolean): void => {
    intro.hidden = isFolded;
    inputFields.open = !isFolded;
    actions.hidden = !isFolded;
  };

  const present = (result: Checked): void => {
    checked = result;
    showChecked();
    fold(true);
    status.say((of) => wordingOf(result, of));
    saveProof.hidden = proofIn(result) === null;
    saveBreach.hidden = result.kind !== 'package' || result.breach === null;
    if (result.kind === 'package') {
      recordForm.reset(true);
      for (const listener of onChecked) listener(missingTrust(result.report, texts()) !== null, result.trust);
      const { consents, count } = result.listing;
      if (count === 1 && consents[0] !== undefined) recordForm.showBeside(consents[0].consent_token);
    }
    focusVerdict(top);
  };

  const check = async (): Promise<void> => {
    const subject = inputs.subject();
    checked = null;
    recordForm.reset(false);
    top.replaceChildren();
    place.replaceChildren();
    fold(false);
    const compared = inputs.compared();
    const isAlone = subject?.kind === 'note' && compared === null;
    status.say(({ page }) => (subject === null ? page.chooseFirst : isAlone ? page.noteAlone : page.checking));
    if (subject === null || isAlone) return;
    const trust = inputs.trust();
    await work((options) => checkFiles({ subject, compared, proofs: inputs.proofs(), options, trust }), present);
  };

  const inputs = startInputs(
    language,
    () => void check(),
    (name) => status.say(({ page }) => page.ignored(name)),
  );
  onClick('forget', () => location.reload());
  onClick('save-html', () => {
    if (checked === null) return;
    const { language: lang, report } = texts();
    const { head, body } = partsOf(checked, texts());
    save(
      'evidence-report.html',
      'text/html',
      htmlPage(report.fileTitle, lang, element('article', { lang }, ...head, ...body)),
    );
  });
  onClick('save-json', () => {
    if (checked !== null) save('evidence-report.json', 'application/json', `${asciiJson(dataOf(checked))}\n`);
  });
  const onProof = (id: string, name: string, read: (of: Checked) => ContradictionFile | null): void =>
    onClick(id, () => {
      const proof = checked === null ? null : read(checked);
      if (proof !== null) save(name, 'application/json', `${asciiJson(proof)}\n`);
    });
  onProof('save-proof', 'contradiction.json', proofIn);
  onProof('save-breach', 'broken-promise.json', (of) => (of.kind === 'package' ? of.breach : null));
  onClick('print', () => window.print());
  language.onChange(showChecked);
  const publish = async (files: readonly File[]): Promise<void> => {
    await inputs.publish(files);
    if (inputs.subject() !== null) await check();
  };
  return { language, publish, onChecked: (listener) => onChecked.push(listener), onRecord: recordForm.onRecord };
}
