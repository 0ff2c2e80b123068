import { isText } from '../../core/guards.js';

export interface ApartOptions {
  readonly title: string;
  /** Empty: that of the page. */
  readonly language: string;
  /** Whether the browser seems to send Global Privacy Control. */
  readonly isSignalled: boolean;
  /** The script element of the SDK on the page. */
  readonly script: HTMLScriptElement;
  /** Reads the configuration or a document. */
  readonly read: (url: URL, init: RequestInit) => Promise<Response>;
  /** Called with what would have been sent. */
  readonly onHeld: (method: string, path: string, body: string) => void;
  /** Called with the address of a link that was pressed, and not followed. */
  readonly onLink: (address: string) => void;
  /** Called with the reason, a part of a sentence, if it does not run any more. */
  readonly onEnd: (reason: string) => void;
}

/** Reading these changes and records nothing. */
const READ = /^\/tool\/v1\/(config|documents\/[^/]+\/active)$/;

/**
 * Runs the script of the page in a frame that keeps nothing and sends nothing: its cookies and storage are its own, and
 * end with it; only the configuration and documents are read; everything else is answered here, and never leaves.
 * @param place where the frame goes, in place of what it has
 * @returns the frame
 */
export function runApart(place: Element, options: ApartOptions): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.title = options.title;
  let isFilled = false;
  // Some browsers replace the first document of a frame when it is loaded.
  frame.addEventListener('load', () => {
    if (isFilled) {
      // Another page is in the frame now, for example one of the site, whose script records.
      frame.remove();
      options.onEnd('ended, because it led to another page.');
    } else fill(frame, options);
    isFilled = true;
  });
  place.replaceChildren(frame);
  return frame;
}

function fill(frame: HTMLIFrameElement, options: ApartOptions): void {
  const { script, read, onHeld, onLink, onEnd } = options;
  const inner = frame.contentDocument?.defaultView;
  if (inner == null) return;
  const answer = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });
  const answered = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    const method = init.method ?? 'GET';
    if (method === 'GET' && READ.test(url.pathname)) return read(url, init);
    onHeld(method, url.pathname, typeof init.body === 'string' ? init.body : '');
    return url.pathname.endsWith('/consents') ? answer(202, { data: acceptance() }) : answer(200, {});
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
    onEnd(`does not run, because this browser would let it keep or send something: ${error}`);
    return;
  }
  inner.addEventListener(
    'click',
    (event) => {
      const link = event.composedPath().find((one) => one instanceof inner.HTMLAnchorElement);
      if (link === undefined) return;
      event.preventDefault();
      onLink(String(Reflect.get(link, 'href')));
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
  copy.addEventListener('error', () => onEnd('does not run, because the script of the page could not be loaded.'));
  inner.document.head.append(copy);
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
