import { isUnchecked, listOf, objectOf, parseJson, recordOf } from '../../../core/guards.js';
import { runApart } from '../run-apart.js';
import type { TriedRegion } from './regions.js';
import { wordsOf } from './words.js';

export interface TrialOptions {
  /** Null leaves the region as the service states it. */
  readonly region: TriedRegion | null;
  /** Empty: that of the page. */
  readonly language: string;
  readonly isSignalled: boolean;
}

/** What a trial needs of the page. */
export interface TriedPage {
  /** The script element of the SDK. */
  readonly script: HTMLScriptElement;
  readonly fetch: typeof fetch;
  /** Called with what the trial would have sent, or why it does not run, in words. */
  readonly onSaid: (words: string) => void;
}

const isConfigured = objectOf<{ data: Record<string, unknown> }>({ data: recordOf(isUnchecked) });
const areCategories = listOf(recordOf(isUnchecked));

/**
 * Runs the script of the page in a frame that keeps nothing and sends nothing.
 * @param place where the frame goes
 * @returns the frame
 */
export function startTrial(place: Element, options: TrialOptions, page: TriedPage): HTMLIFrameElement {
  const { script, fetch: send, onSaid } = page;
  return runApart(place, {
    ...options,
    title: 'Trial of the banner: nothing is recorded',
    script,
    read: async (url, init) => {
      const response = await send.call(window, url, init);
      return url.pathname.endsWith('/config') ? inRegion(response, options.region) : response;
    },
    onHeld: (method, path, body) => onSaid(`Not sent: ${method} ${path} ${body === '' ? '' : wordsOf(body)}`),
    onLink: (address) => onSaid(`Not followed: ${address}`),
    onEnd: (reason) => onSaid(`The trial ${reason}`),
  });
}

/** The configuration as the service states it for another region. IAB signals are left out: other scripts hear them. */
async function inRegion(response: Response, region: TriedRegion | null): Promise<Response> {
  const text = await response.text();
  const configured = parseJson(text, isConfigured);
  if (configured === undefined) return new Response(text, { status: response.status });
  const { iab: _, rule_id: rule, categories, ...data } = configured.data;
  const stated = region && {
    country: region.country,
    region: region.region,
    compliance_framework: region.law,
    signal_is_request: region.law === 'ccpa',
  };
  // Which rule the site has elsewhere is not known here: everything optional waits for consent, as without one.
  const waiting = areCategories(categories) ? categories.map(({ rule: _, ground: __, ...one }) => one) : categories;
  const elsewhere = { region: stated, categories: waiting };
  const body = { data: { ...data, ...(stated ? elsewhere : { categories, rule_id: rule }) } };
  return new Response(JSON.stringify(body), { status: response.status });
}
