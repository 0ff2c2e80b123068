import { z } from 'zod';
import { ClientTokenResponse, PublicVerifyResponse } from '../../../schemas/api/verify.js';
import { element, type Markup } from '../report/markup.js';
import { facts, foreign, momentText } from '../report/page-parts.js';
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
      { class: `verdict ${valid ? 'valid' : 'invalid'}` },
      element('span', { class: 'sign', 'aria-hidden': 'true' }, valid ? '✓' : '✗'),
      element('p', {}, element('strong', {}, valid ? 'On record' : 'On record, but the integrity check failed')),
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

find('lookup', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const result = find('lookup-result', HTMLElement);
  result.textContent = 'Asking …';
  void ask(find('token', HTMLInputElement).value.trim()).then((markup) => result.replaceChildren(renderDom(markup)));
});
