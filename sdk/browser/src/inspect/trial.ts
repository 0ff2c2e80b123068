import { isText, isUnchecked, objectOf, parseJson, recordOf } from '../../../core/guards.js';
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
/** Reading these changes and records nothing. */
const READ = /^\/tool\/v1\/(config|documents\/[^/]+\/active)$/;

/**
 * Runs the script of the page in a frame that keeps nothing and sends nothing: its cookies and storage are its own, and
 * end with it; only the configuration and documents are read; everything else is answered here, and never leaves.
 * @param place where the frame goes
 * @returns the frame
 */
export function startTrial(place: Element, options: TrialOptions, page: TriedPage): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.title = 'Trial of the banner: nothing is recorded';
  let isFilled = false;
  // Some browsers replace the first document of a frame when it is loaded.
  frame.addEventListener('load', () => {
    if (isFilled) {
      // Another page is in the frame now, for example one of the site, whose script records.
      frame.remove();
      page.onSaid('The trial ended, because it led to another page.');
    } else fill(frame, options, page);
    isFilled = true;
  });
  place.replaceChildren(frame);
  return frame;
}

function fill(frame: HTMLIFrameElement, options: TrialOptions, { script, fetch: send, onSaid }: TriedPage): void {
  const inner = frame.contentDocument?.defaultView;
  if (inner == null) return;
  const answer = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });
  const answered = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    const method = init.method ?? 'GET';
    if (method !== 'GET' || !READ.test(url.pathname)) {
      const body = typeof init.body === 'string' ? init.body : '';
      onSaid(`Not sent: ${method} ${url.pathname} ${body === '' ? '' : wordsOf(body)}`);
      return url.pathname.endsWith('/consents') ? answer(202, { data: acceptance() }) : answer(200, {});
    }
    const response = await send.call(window, input, init);
    return url.pathname.endsWith('/config') ? inRegion(response, options.region) : response;
  };
  const kept = storage();
  const cookies = new Map<string, string>();
  const cookie = {
    get: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    set: (text: string) => {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(text) ?? [];
      if (/; max-age=0\b/i.test(text)) cookies.delete(name);
      else cookies.set(name, value);
    },
  };
  const replaced: readonly (readonly [object, string, PropertyDescriptor])[] = [
    [inner, 'fetch', { value: answered }],
    [inner, 'localStorage', { get: () => kept }],
    [inner, 'sessionStorage', { get: () => kept }],
    [inner.document, 'cookie', cookie],
    [inner.navigator, 'globalPrivacyControl', { get: () => options.isSignalled }],
    // Another tab of the page must not wait for the trial.
    [inner.navigator, 'locks', { value: undefined }],
    // What else could leave the frame.
    [inner.navigator, 'sendBeacon', { value: () => false }],
    [inner, 'XMLHttpRequest', { value: undefined }],
  ];
  try {
    for (const [of, name, member] of replaced) Object.defineProperty(of, name, member);
  } catch (error) {
    onSaid(`The trial does not run, because this browser would let it keep or send something: ${error}`);
    return;
  }
  inner.addEventListener(
    'click',
    (event) => {
      const link = event.composedPath().find((one) => one instanceof inner.HTMLAnchorElement);
      if (link === undefined) return;
      event.preventDefault();
      onSaid(`Not followed: ${Reflect.get(link, 'href')}`);
    },
    { capture: true },
  );
  inner.document.documentElement.lang = options.language || document.documentElement.lang;
  const copy = inner.document.createElement('script');
  const { apiKey, baseUrl } = script.dataset;
  copy.dataset.apiKey = apiKey;
  copy.dataset.baseUrl = baseUrl ?? new URL(script.src).origin;
  if (options.language !== '') copy.dataset.language = options.language;
  copy.nonce = script.nonce;
  copy.src = script.src;
  copy.addEventListener('error', () => onSaid('The script of the page could not be loaded in the trial.'));
  inner.document.head.append(copy);
}

/** The configuration as the service states it for another region. IAB signals are left out: other scripts hear them. */
async function inRegion(response: Response, region: TriedRegion | null): Promise<Response> {
  const text = await response.text();
  const configured = parseJson(text, isConfigured);
  if (configured === undefined) return new Response(text, { status: response.status });
  const { iab: _, ...data } = configured.data;
  const stated = region && { country: region.country, region: region.region, compliance_framework: region.law };
  const body = { data: { ...data, ...(stated && { region: stated }) } };
  return new Response(JSON.stringify(body), { status: response.status });
}

/** An answer that looks like one of the service, and names no record. */
function acceptance() {
  return {
    consent_token: 'ct_trial',
    proof_hash: '0'.repeat(64),
    created_at: new Date().toISOString(),
    duplicate: false,
    promise: null,
  };
}

/** Storage that ends with the frame. Its names are properties of their own, as in that of a browser. */
function storage(): object {
  const methods = {
    getItem(name: string): string | null {
      const text: unknown = Reflect.get(this, name);
      return isText(text) ? text : null;
    },
    setItem(name: string, text: string): void {
      Reflect.set(this, name, text);
    },
    removeItem(name: string): void {
      Reflect.deleteProperty(this, name);
    },
  };
  return Object.create(methods);
}
