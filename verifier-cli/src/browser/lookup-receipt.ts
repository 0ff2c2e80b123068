import { consentToken } from '../../../schemas/events/consent-recorded.js';
import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../rendering/markup.js';
import { facts, foreign, sourceBlock } from '../rendering/page-parts.js';
import { certificateOf } from '../show/certificate.js';
import type { ShownRecord } from '../show/shown-record.js';
import { chooseFiles } from './choose-file.js';
import { find, save } from './elements.js';
import { NOTHING, startStatusLine, type Wording } from './language.js';
import type { StartedPage } from './page.js';
import type { PublishedTrust } from './published-trust.js';
import { renderDom } from './render-dom.js';

const RECEIPT_TYPE = 'application/json';
/** What follows the token in a link that asks for the certificate (dashboard/src/pages/consents/proof-section.tsx). */
const FOR_CERTIFICATE = '&certificate';

/** Finds the consent token of a record in what the visitor entered, or null if there is none. */
function tokenIn(entered: string): string | null {
  const [token] = /ct_[0-9a-f]{32}/.exec(entered) ?? [];
  if (token !== undefined) return token;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(entered) ? consentToken(entered.toLowerCase()) : null;
}

/** Fetches the receipt of a record. @returns the file, or what went wrong */
async function fetchReceipt(token: string): Promise<File | Wording> {
  try {
    const response = await fetch(`/api/v1/public/consents/${token}/receipt`);
    if (response.status === 409) return ({ lookup }) => lookup.notStampedYet;
    if (!response.ok) return ({ lookup }) => lookup.noReceipt;
    return new File([await response.blob()], `receipt-${token}.json`, { type: RECEIPT_TYPE });
  } catch {
    return ({ lookup }) => lookup.unreachable;
  }
}

/** What the receipt adds to the answer: the choice with the names that the person saw, and the text. */
function addition(shown: ShownRecord, texts: Texts): Markup {
  const { record } = texts;
  const lines = certificateOf(shown, texts) ?? [];
  const added = lines.filter(([name]) => [record.decision, record.rule, record.agreedText].includes(name));
  const source = shown.text?.source ?? null;
  return element(
    'section',
    {},
    facts(added.map(([name, value]) => [name, foreign(value)])),
    ...(shown.text === null || source === null ? [] : [sourceBlock(source, shown.text.media_type)]),
  );
}

/**
 * Offers the receipt of the record that the look-up shows. That of a record that a link named is checked at once, with
 * the keys and roots of the service.
 */
export function startLookupReceipt({ language, onRecord }: StartedPage, published: PublishedTrust): void {
  const section = find('lookup-section', HTMLElement);
  const more = find('lookup-text', HTMLElement);
  const [check, keep] = [find('lookup-receipt', HTMLButtonElement), find('lookup-keep', HTMLButtonElement)];
  const status = startStatusLine('lookup-receipt-status', language);
  let added: ShownRecord | null = null;
  const shownToken = (): string | null => tokenIn(section.dataset.record ?? '');

  const add = (shown: ShownRecord | null): void => {
    added = shown;
    more.replaceChildren(...(shown === null ? [] : [renderDom(addition(shown, language.texts()))]));
  };
  const withReceipt = async (use: (file: File) => Wording | Promise<Wording>): Promise<void> => {
    const token = shownToken();
    if (token === null) return;
    status.say(({ lookup }) => lookup.asking);
    const found = await fetchReceipt(token);
    const outcome = found instanceof File && shownToken() === token ? await use(found) : found;
    // Another record may have been looked up meanwhile.
    if (!(outcome instanceof File) && shownToken() === token) status.say(outcome);
  };
  const checkReceipt = async (file: File): Promise<Wording> => {
    await published.use();
    chooseFiles('package', [file]);
    return ({ lookup }) => lookup.receiptChecked;
  };
  const offer = (): void => {
    add(null);
    status.say(NOTHING);
    for (const button of [check, keep]) button.hidden = shownToken() === null;
    if (section.dataset.linked !== undefined) void withReceipt(checkReceipt);
  };
  check.addEventListener('click', () => void withReceipt(checkReceipt));
  keep.addEventListener(
    'click',
    () =>
      void withReceipt((file) => {
        save(file.name, RECEIPT_TYPE, file);
        return ({ lookup }) => lookup.receiptSaved;
      }),
  );
  onRecord((shown) => {
    if (shown.consent_token !== shownToken()) return;
    add(shown.verdict === 'valid' ? shown : null);
    if (shown.verdict === 'invalid') status.say(({ lookup }) => lookup.receiptInvalid);
    if (section.dataset.linked !== FOR_CERTIFICATE) return;
    // Once for each link: the reader may check the receipt again.
    delete section.dataset.linked;
    find('certificate-print', HTMLButtonElement).click();
  });
  language.onChange(() => add(added));
  section.addEventListener('answered', offer);
  offer();
}
