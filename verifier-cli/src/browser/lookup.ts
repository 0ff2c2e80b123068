import * as z from 'zod';
import { ClientTokenResponse, PublicVerifyResponse } from '../../../schemas/api/verify.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { isOnDomain } from '../../../schemas/events/site-config.js';
import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../rendering/markup.js';
import { facts, foreign } from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { dayText, momentText } from '../rendering/times-text.js';
import { decisionWord } from '../rendering/wording.js';
import { chooseFiles } from './choose-file.js';
import { find, save } from './elements.js';
import { NOTHING, type PageLanguage, startStatusLine, type Wording } from './language.js';
import type { PublishedTrust } from './published-trust.js';
import { renderDom } from './render-dom.js';

const RECEIPT_TYPE = 'application/json';
const ENDPOINT = '/api/v1/public/consents/verify';

const Answer = z.union([
  PublicVerifyResponse,
  ClientTokenResponse,
  z
    .object({ error: z.object({ code: z.string() }) })
    .transform(({ error }) => ({ source: 'error' as const, code: error.code })),
]);
type Answer = z.infer<typeof Answer>;
type Found = PublicVerifyResponse['data'];

/** Finds the consent token of a record in what the visitor entered, or null if there is none. */
function tokenIn(entered: string): string | null {
  const [token] = /ct_(?:test_)?[0-9a-f]{32}/.exec(entered) ?? [];
  if (token !== undefined) return token;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(entered) ? consentToken(entered.toLowerCase()) : null;
}

/** Summarizes the record for a reader who knows nothing of consent records. */
function sentenceOf(data: Found, texts: Texts): string {
  const { created_at: at, site_domain, timestamp, imported_from: tool, claimed_at: claimed } = data;
  const { lookup } = texts;
  const when = at === null ? null : dayText(at, texts);
  const proved = timestamp === null ? lookup.noStamp : lookup.stamp(dayText(timestamp.time, texts));
  const domain = site_domain ?? lookup.unknownDomain;
  const decision = decisionWord(data.decision, texts);
  const said =
    tool === null
      ? lookup.recorded(domain, when, decision)
      : lookup.imported(domain, tool, claimed === null ? null : dayText(claimed, texts), decision);
  return `${said} ${proved}`;
}

/** Content of the page, in the language of the reader. */
type Said = (texts: Texts) => Markup;

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

async function ask(token: string): Promise<Said> {
  try {
    const response = await fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const answer = Answer.safeParse(await response.json());
    return (texts) => (answer.success ? answerMarkup(answer.data, texts) : failure(texts.lookup.unsupported));
  } catch {
    return ({ lookup }) => failure(lookup.unreachable);
  }
}

function answerMarkup(answer: Answer, texts: Texts): Markup {
  const { lookup, words } = texts;
  if (answer.source === 'error') {
    if (answer.code === 'CONSENT_NOT_FOUND') return failure(lookup.notFound);
    return failure(answer.code === 'RATE_LIMIT_EXCEEDED' ? lookup.tooMany : lookup.refused(printable(answer.code)));
  }
  if (answer.source === 'client_token')
    return failure(answer.reason === 'test' ? lookup.testToken : lookup.clientToken);
  const { data, valid } = answer;
  const chosen = [...Object.entries(data.categories ?? {}), ...Object.entries(data.services ?? {})].map(
    ([name, isAccepted]) => `${name}: ${isAccepted ? words.yes : words.no}`,
  );
  return element(
    'section',
    {},
    element(
      'section',
      // This is not the green of a verdict, because here the service only makes a statement and proves nothing.
      { class: `verdict ${valid ? 'stated' : 'invalid'}` },
      element('span', { class: 'sign', 'aria-hidden': 'true' }, valid ? 'i' : '✗'),
      element(
        'p',
        {},
        element('strong', {}, valid ? lookup.onRecord : lookup.notIntact),
        element('span', {}, printable(sentenceOf(data, texts))),
      ),
    ),
    facts([
      [lookup.website, foreign(data.site_domain ?? words.unknown)],
      [lookup.kind, foreign(data.consent_type ?? words.unknown)],
      [lookup.decision, foreign(decisionWord(data.decision, texts))],
      [lookup.categories, chosen.length === 0 ? null : foreign(chosen.join(', '))],
      [lookup.recordedAt, data.created_at === null ? words.unknown : momentText(data.created_at)],
      [lookup.validUntil, data.valid_until === null ? null : momentText(data.valid_until)],
      [lookup.stamped, data.timestamp === null ? lookup.notYet : lookup.by(momentText(data.timestamp.time))],
      [lookup.personal, data.is_anonymized ? lookup.erased : null],
      [lookup.withdrawal, withdrawalLink(data, texts)],
      [lookup.proofHash, element('code', {}, foreign(data.proof_hash))],
    ]),
  );
}

/** The address as a link, unless it is not on the site: the service made the answer, and others may have changed it. */
function withdrawalLink({ withdrawal_url: url, site_domain: domain }: Found, { lookup }: Texts): Markup | null {
  if (url === null || domain === null || !isOnDomain(url, domain)) return null;
  return element('a', { href: `https://${url.slice('https://'.length)}`, rel: 'noreferrer' }, lookup.withdrawalLink);
}

function failure(text: string): Markup {
  return element('p', { class: 'attention' }, text);
}

/**
 * Makes the look-up work. A link can name a record after “#”, a part of the address that browsers do not send: the page
 * then begins with the answer, and checks its receipt.
 * @param published keys and roots of the service, for the check of a receipt that a link names
 */
export function startLookup(language: PageLanguage, published: PublishedTrust): void {
  const { texts } = language;
  const form = find('lookup', HTMLFormElement);
  const field = find('token', HTMLInputElement);
  const section = find('lookup-section', HTMLElement);
  const result = find('lookup-result', HTMLElement);
  const receipt = find('lookup-receipt', HTMLButtonElement);
  const keep = find('lookup-keep', HTMLButtonElement);
  const receiptStatus = startStatusLine('lookup-receipt-status', language);
  let said: Said = NOTHING;

  const offerReceipt = (isOffered: boolean): void => {
    for (const button of [receipt, keep]) button.hidden = !isOffered;
  };
  const show = (answer: Said): void => {
    said = answer;
    result.replaceChildren(renderDom(said(texts())));
  };
  /** @returns whether the service has the record */
  const answered = async (): Promise<boolean> => {
    show(await ask(field.value.trim()));
    const isFound = result.querySelector('.verdict') !== null;
    section.classList.toggle('answered', isFound);
    offerReceipt(isFound && tokenIn(field.value) !== null);
    return isFound;
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    offerReceipt(false);
    receiptStatus.say(NOTHING);
    show(({ lookup }) => lookup.asking);
    void answered();
  });
  const withReceipt = async (token: string, use: (file: File) => Wording | Promise<Wording>): Promise<void> => {
    receiptStatus.say(({ lookup }) => lookup.asking);
    const found = await fetchReceipt(token);
    receiptStatus.say(found instanceof File ? await use(found) : found);
  };
  const checkReceipt = async (file: File): Promise<Wording> => {
    await published.use();
    chooseFiles('package', [file]);
    return ({ lookup }) => lookup.receiptChecked;
  };
  const keepReceipt = (file: File): Wording => {
    save(file.name, RECEIPT_TYPE, file);
    return ({ lookup }) => lookup.receiptSaved;
  };
  for (const [button, use] of [
    [receipt, checkReceipt],
    [keep, keepReceipt],
  ] as const)
    button.addEventListener('click', () => {
      const token = tokenIn(field.value);
      if (token !== null) void withReceipt(token, use);
    });
  language.onChange(() => show(said));

  const lookUpLinked = async (): Promise<void> => {
    const linked = tokenIn(location.hash);
    if (linked === null) return;
    field.value = linked;
    // The answer comes before all inputs of the reader.
    for (const id of ['inputs', 'lookup-fold']) find(id, HTMLDetailsElement).open = false;
    document.querySelector('main')?.prepend(section);
    section.append(find('lookup-fold', HTMLElement));
    show(({ lookup }) => lookup.asking);
    if (await answered()) await withReceipt(linked, checkReceipt);
  };
  void lookUpLinked();
  window.addEventListener('hashchange', () => void lookUpLinked());
}
