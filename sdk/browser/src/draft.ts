import { styleRoot } from '../../banner/dom.js';
import { isUnchecked, objectOf, parseJson } from '../../core/guards.js';
import { runApart } from './run-apart.js';

const STYLE = `
:host{all:initial;position:fixed;inset:0;margin:0;border:0;padding:0;width:100%;height:100%;background:none;overflow:hidden;z-index:2147483647}
iframe{position:absolute;inset:0;width:100%;height:100%;border:0;background:none;color-scheme:light}
p{position:absolute;inset:0 0 auto;display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1rem;margin:0;padding:.6rem 1rem;background:#4a2d00;color:#fff;font:600 16px/1.4 system-ui,sans-serif}
button{min-height:2.5rem;padding:.3rem 1rem;border:2px solid #fff;border-radius:6px;background:none;color:#fff;font:inherit;cursor:pointer}
button:focus-visible{outline:3px solid #fff;outline-offset:2px}`;

const WORDS = 'Draft of the banner: nothing is recorded, and nothing optional is permitted on this page.';
const isRefusal = objectOf<{ errors: unknown }>({ errors: isUnchecked });

/**
 * Shows the draft of the banner over the page, for the token in its address. The SDK of the page has not started, so that
 * everything gated stays so; that of the draft runs apart, and nothing of it is kept or sent.
 */
function showDraft(): void {
  const [, token = ''] = /^#consent-draft=(.*)/.exec(location.hash) ?? [];
  // Neither the history nor a link that somebody copies shows the draft to others.
  history.replaceState(history.state, '', location.href.split('#')[0]);
  holdStill(window.consentLedger?.consent);
  // The banner of the page has nothing to show, and an empty box would be in its place.
  void window.consentLedger?.banner.then((banner) => banner.remove());
  const host = document.createElement('consent-draft');
  const root = host.attachShadow({ mode: 'open' });
  const strip = document.createElement('p');
  const words = document.createElement('span');
  const close = document.createElement('button');
  const place = document.createElement('div');
  words.setAttribute('role', 'status');
  close.type = 'button';
  close.textContent = 'Close the draft';
  // The normal banner returns with the page itself.
  close.addEventListener('click', () => location.reload());
  strip.append(words, close);
  root.append(place, strip);
  host.popover = 'manual';
  document.body.append(host);
  // Above a dialog of the page. Browsers before 2024 do not have it.
  if ('showPopover' in host) host.showPopover();
  const script = document.querySelector<HTMLScriptElement>('script[data-api-key]');
  styleRoot(root, STYLE, script?.nonce);
  const say = (text: string): void => {
    words.textContent = text;
  };
  const end = (reason: string): void => {
    place.remove();
    say(`There is no draft of the banner: ${reason}`);
  };
  if (script === null) {
    end('it can be shown only where the script element of the SDK starts it.');
    return;
  }
  say(WORDS);
  runApart(place, {
    title: 'Draft of the banner',
    language: script.dataset.language ?? '',
    // Whoever looks at a draft wants to be asked.
    isSignalled: false,
    script,
    read: async (url, init) => {
      if (!url.pathname.endsWith('/config')) return fetch(url, init);
      url.searchParams.set('draft', token);
      const response = await fetch(url, { ...init, cache: 'no-store' });
      if (response.ok) return response;
      end(reasonOf(await response.text()));
      return new Response('', { status: response.status });
    },
    onHeld: () => undefined,
    onLink: () => undefined,
    onEnd: end,
  });
}

/** A page with its own switch of languages or its own buttons would otherwise start what has not started, and record. */
function holdStill(consent: object | undefined): void {
  const refuse = () => Promise.reject(new Error('The page shows a draft of the banner: nothing is recorded.'));
  const still = { start: refuse, setLanguage: refuse };
  Object.assign(consent ?? {}, still, { choose: refuse, optOutOfSale: refuse, approve: refuse });
}

/** Why the service does not show the draft. @param body of its answer */
function reasonOf(body: string): string {
  const [error]: unknown[] = [parseJson(body, isRefusal)?.errors].flat();
  const message: unknown = Reflect.get(Object(error), 'message');
  return typeof message === 'string' ? message : 'the service does not show it.';
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', showDraft);
else showDraft();
