import { z } from 'zod';
import { ClientTokenResponse, PublicVerifyResponse } from '../../../schemas/api/verify.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { element, type Markup } from '../report/markup.js';
import { dayText, facts, foreign, momentText } from '../report/page-parts.js';
import { printable } from '../report/printable.js';
import { chooseFile } from './choose-file.js';
import { find } from './elements.js';
import { renderDom } from './render-dom.js';

const ENDPOINT = '/api/v1/public/consents/verify';

const Answer = z.union([
  PublicVerifyResponse,
  ClientTokenResponse,
  z
    .object({ error: z.object({ code: z.string() }) })
    .transform(({ error }) => ({ source: 'error' as const, code: error.code })),
]);
type Answer = z.infer<typeof Answer>;

/** Consent token of a record, from what the visitor entered; null: it has none. */
function tokenIn(entered: string): string | null {
  const [token] = /ct_[0-9a-f]{32}/.exec(entered) ?? [];
  if (token !== undefined) return token;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(entered) ? consentToken(entered.toLowerCase()) : null;
}

/** What the record means, for a reader who knows nothing of consent records. */
function sentenceOf({
  decision,
  created_at: at,
  site_domain: domain,
  timestamp,
}: PublicVerifyResponse['data']): string {
  const when = at === null ? '' : ` on ${dayText(at)}`;
  const proved =
    timestamp === null
      ? 'The service states no time stamp that covers it yet.'
      : `The service states that a time stamp covers it since ${dayText(timestamp.time)}; check the receipt to see whose.`;
  return `The website ${domain ?? '(unknown)'} recorded${when} the decision “${decision ?? 'unknown'}”. ${proved}`;
}

/** Fetches the receipt of a record and gives it to the verifier above. @returns what went wrong; null: nothing */
async function checkReceipt(token: string): Promise<string | null> {
  try {
    const response = await fetch(`/api/v1/public/consents/${token}/receipt`);
    if (response.status === 409) return 'The record has no time stamp yet. Try again in some minutes.';
    if (!response.ok) return 'The service did not give the receipt. Try again later.';
    chooseFile(new File([await response.blob()], `receipt-${token}.json`, { type: 'application/json' }));
    return null;
  } catch {
    return 'The service could not be reached. Check your connection and try again.';
  }
}

async function ask(token: string): Promise<Markup> {
  try {
    const response = await fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const answer = Answer.safeParse(await response.json());
    return answer.success
      ? answerMarkup(answer.data)
      : failure('The service returned a response that this page does not support.');
  } catch {
    return failure('The service could not be reached. Check your connection and try again.');
  }
}

function answerMarkup(answer: Answer): Markup {
  if (answer.source === 'error') {
    if (answer.code === 'CONSENT_NOT_FOUND')
      return failure('The service has no record with this token, proof hash or id.');
    return failure(
      answer.code === 'RATE_LIMIT_EXCEEDED'
        ? 'Too many requests. Wait a minute, then try again.'
        : `The service rejected the request (${answer.code}).`,
    );
  }
  if (answer.source === 'client_token')
    return failure('This is a client token. It refers to no record, and any client can create one.');
  const { data, valid } = answer;
  const chosen = Object.entries(data.categories ?? {}).map(
    ([name, isAccepted]) => `${name}: ${isAccepted ? 'yes' : 'no'}`,
  );
  return element(
    'section',
    {},
    element(
      'section',
      // Not the green of a verdict: the service states it, and proves nothing here.
      { class: `verdict ${valid ? 'stated' : 'invalid'}` },
      element('span', { class: 'sign', 'aria-hidden': 'true' }, valid ? 'i' : '✗'),
      element(
        'p',
        {},
        element('strong', {}, valid ? 'On record' : 'On record, but the integrity check failed'),
        element('span', {}, printable(sentenceOf(data))),
      ),
    ),
    facts([
      ['Website', foreign(data.site_domain ?? 'unknown')],
      ['Kind', foreign(data.consent_type ?? 'unknown')],
      ['Decision', foreign(data.decision ?? 'unknown')],
      ['Categories', chosen.length === 0 ? null : foreign(chosen.join(', '))],
      ['Recorded', data.created_at === null ? 'unknown' : momentText(data.created_at)],
      ['Valid until', data.valid_until === null ? null : momentText(data.valid_until)],
      ['Time-stamped', data.timestamp === null ? 'not yet' : `by ${momentText(data.timestamp.time)}`],
      ['Personal details', data.is_anonymized ? 'erased' : null],
      ['Proof hash', element('code', {}, foreign(data.proof_hash))],
    ]),
  );
}

function failure(text: string): Markup {
  return element('p', { class: 'attention' }, text);
}

const form = find('lookup', HTMLFormElement);
const field = find('token', HTMLInputElement);
const receipt = find('lookup-receipt', HTMLButtonElement);
const receiptStatus = find('lookup-receipt-status', HTMLElement);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const result = find('lookup-result', HTMLElement);
  receipt.hidden = true;
  receiptStatus.textContent = '';
  result.textContent = 'Asking …';
  void ask(field.value.trim()).then((markup) => {
    result.replaceChildren(renderDom(markup));
    receipt.hidden = result.querySelector('.verdict') === null || tokenIn(field.value) === null;
  });
});
receipt.addEventListener('click', () => {
  const token = tokenIn(field.value);
  if (token === null) return;
  receiptStatus.textContent = 'Asking …';
  void checkReceipt(token).then((problem) => {
    receiptStatus.textContent = problem ?? 'The receipt was checked: its record is shown above.';
  });
});

// A link can name a record after “#”, a part of the address that browsers do not send.
const lookUpLinked = (): void => {
  const linked = tokenIn(location.hash);
  if (linked === null) return;
  field.value = linked;
  form.requestSubmit();
};
lookUpLinked();
window.addEventListener('hashchange', lookUpLinked);
