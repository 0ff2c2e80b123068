import * as z from 'zod/mini';
import { actOf, OBJECTION_TYPE } from '../../../schemas/law/acts.js';
import { isOnDomain, WITHDRAWAL_URL } from '../../../schemas/text/withdrawal-url.js';
import type { AnswerTexts } from '../i18n/answer-texts.js';
import { element, type Markup } from '../rendering/markup.js';
import { details, facts, foreign } from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { dayText, momentText } from '../rendering/times-text.js';
import { decisionWord } from '../rendering/wording.js';
import { find } from './elements.js';
import type { PageLanguage } from './language.js';
import { renderDom } from './render-dom.js';

const ENDPOINT = '/api/v1/public/consents/verify';
const LINK = /(ct_(?:test_)?[0-9a-f]{32})(.*)/;
/** Milliseconds after which the page no longer waits for an answer. */
const PATIENCE_MS = 20_000;

const Text = z.nullable(z.string());
const Choices = z.nullable(z.record(z.string(), z.boolean()));
const Found = z.object({
  consent_type: Text,
  decision: Text,
  proof_hash: z.string(),
  is_anonymized: z.boolean(),
  created_at: Text,
  imported_from: Text,
  claimed_at: Text,
  site_domain: Text,
  withdrawal_url: z.nullable(z.string().check(z.regex(WITHDRAWAL_URL))),
  categories: Choices,
  services: Choices,
  scope: z.optional(Text),
  valid_until: Text,
  timestamp: z.nullable(z.object({ time: z.string() })),
});
type Found = z.infer<typeof Found>;

/**
 * What the page shows of an answer. The schemas of the API have more members and descriptions, and are too large for a
 * script that must be there first.
 */
export const LookupAnswer = z.union([
  z.object({ source: z.literal('server'), valid: z.boolean(), data: Found }),
  z.object({ source: z.literal('client_token'), reason: z.optional(z.literal('test')) }),
  z.object({ error: z.object({ code: z.string() }) }),
]);
type LookupAnswer = z.infer<typeof LookupAnswer>;

/** Summarizes the record for a reader who knows nothing of consent records. */
function sentenceOf(data: Found, texts: AnswerTexts): string {
  const { created_at: at, site_domain, timestamp, imported_from: tool, claimed_at: claimed } = data;
  const { lookup } = texts;
  const when = at === null ? null : dayText(at, texts);
  const proved = timestamp === null ? lookup.noStamp : lookup.stamp(dayText(timestamp.time, texts));
  const domain = site_domain ?? lookup.unknownDomain;
  const decision = actText(data, texts);
  const said =
    tool === null
      ? lookup.recorded(domain, when, decision)
      : lookup.imported(domain, tool, claimed === null ? null : dayText(claimed, texts), decision);
  return `${said} ${proved}`;
}

/** What the person did. An objection names what it is to. */
function actText(data: Found, texts: AnswerTexts): string {
  const names = data.consent_type === OBJECTION_TYPE ? Object.keys(data.categories ?? {}) : [];
  return names.length === 0 ? decisionWord(actOf(data), texts) : texts.words.objectedTo(names.join(', '));
}

/** Content of the page, in the language of the reader. */
type Said = (texts: AnswerTexts) => Markup;

async function ask(token: string): Promise<Said> {
  try {
    const response = await fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answer = LookupAnswer.safeParse(await response.json());
    return (texts) => (answer.success ? answerMarkup(answer.data, texts) : failure(texts.lookup.unsupported));
  } catch {
    return ({ lookup }) => failure(lookup.unreachable);
  }
}

function answerMarkup(answer: LookupAnswer, texts: AnswerTexts): Markup {
  const { lookup, words } = texts;
  if ('error' in answer) {
    const { code } = answer.error;
    if (code === 'CONSENT_NOT_FOUND') return failure(lookup.notFound);
    return failure(code === 'RATE_LIMIT_EXCEEDED' ? lookup.tooMany : lookup.refused(printable(code)));
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
        element('strong', {}, valid ? printable(lookup.onRecord(actText(data, texts))) : lookup.notIntact),
        element('span', {}, printable(sentenceOf(data, texts))),
      ),
    ),
    facts([
      chosen.length === 0
        ? [lookup.kind, foreign(data.consent_type ?? words.unknown)]
        : [lookup.categories, foreign(chosen.join(', '))],
      [lookup.scope, data.scope === 'account' ? lookup.ofAccount : null],
      [lookup.validUntil, data.valid_until === null ? null : dayText(data.valid_until, texts)],
      [lookup.personal, data.is_anonymized ? lookup.erased : null],
      [lookup.withdrawal, withdrawalLink(data, texts)],
    ]),
    details(
      words.details,
      facts([
        [lookup.website, foreign(data.site_domain ?? words.unknown)],
        [lookup.kind, chosen.length === 0 ? null : foreign(data.consent_type ?? words.unknown)],
        [lookup.recordedAt, data.created_at === null ? words.unknown : momentText(data.created_at)],
        [lookup.stamped, data.timestamp === null ? lookup.notYet : lookup.by(momentText(data.timestamp.time))],
        [lookup.proofHash, element('code', {}, foreign(data.proof_hash))],
      ]),
    ),
  );
}

/** The address as a link, unless it is not on the site: the service made the answer, and others may have changed it. */
function withdrawalLink({ withdrawal_url: url, site_domain: domain }: Found, { lookup }: AnswerTexts): Markup | null {
  if (url === null || domain === null || !isOnDomain(url, domain)) return null;
  return element('a', { href: `https://${url.slice('https://'.length)}`, rel: 'noreferrer' }, lookup.withdrawalLink);
}

function failure(text: string): Markup {
  return element('p', { class: 'attention' }, text);
}

/** Waits until the browser has painted what the page shows now. It paints no page that nobody sees. */
async function painted(): Promise<void> {
  if (document.hidden) return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/**
 * Makes the look-up work. A link can name a record after “#”, a part of the address that browsers do not send: the page
 * then begins with the answer.
 * @param section the part of the page, which states what names the record that is shown (`data-record`), and whether a link
 *   named it (`data-linked`: the part of the link after the token). It tells of each answer by the event `answered`.
 * @returns once the answer to the link is painted, or at once if there is no link
 */
export async function startLookup(section: HTMLElement, language: PageLanguage<AnswerTexts>): Promise<void> {
  const { texts } = language;
  const field = find('token', HTMLInputElement);
  const result = find('lookup-result', HTMLElement);
  let said: Said = () => '';
  let runs = 0;

  const show = (answer: Said): void => {
    said = answer;
    result.replaceChildren(renderDom(said(texts())));
  };
  const tell = (record: string | null, link: string | null): void => {
    delete section.dataset.record;
    delete section.dataset.linked;
    if (record !== null) section.dataset.record = record;
    if (link !== null) section.dataset.linked = link;
    section.dispatchEvent(new Event('answered'));
  };
  const lookUp = async (link: string | null): Promise<void> => {
    runs += 1;
    const run = runs;
    tell(null, null);
    show(({ lookup }) => element('p', {}, lookup.asking));
    const entered = field.value.trim();
    const answer = await ask(entered);
    // A newer look-up has its own answer.
    if (run !== runs) return;
    show(answer);
    const isFound = result.querySelector('.verdict') !== null;
    section.classList.toggle('answered', isFound);
    await painted();
    if (run === runs) tell(isFound ? entered : null, link);
  };
  find('lookup', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void lookUp(null);
  });
  language.onChange(() => show(said));

  const lookUpLinked = async (): Promise<void> => {
    const [, linked, rest = ''] = LINK.exec(location.hash) ?? [];
    if (linked === undefined) return;
    field.value = linked;
    // The answer comes before all inputs of the reader.
    for (const id of ['inputs', 'lookup-fold']) find(id, HTMLDetailsElement).open = false;
    document.querySelector('main')?.prepend(section);
    section.append(find('lookup-fold', HTMLElement));
    await lookUp(rest);
  };
  window.addEventListener('hashchange', () => void lookUpLinked());
  await lookUpLinked();
}
