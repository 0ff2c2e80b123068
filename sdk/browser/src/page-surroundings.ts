import { CookieJar } from '../../core/cookie-jar.js';
import { PageStore } from '../../core/page-store.js';
import type { Surroundings, Watcher } from '../../core/ports.js';
import { ServiceError } from '../../shared/service-error.js';
import { CookieRenewal } from './cookie-renewal.js';
import type { ConsentOptions } from './options.js';
import { webCryptography } from './web-cryptography.js';
import { fetchAnswer } from './web-network.js';

/** A page of a browser, as the core sees it. */
export function pageSurroundings({ cookieDomain, renewUrl }: ConsentOptions): Surroundings {
  const store = new PageStore(() => localStorage);
  return {
    jar: new CookieJar(document, location, cookieDomain),
    store,
    network: fetchAnswer,
    cryptography: webCryptography,
    clock: () => Date.now(),
    isSignalled: () => Reflect.get(navigator, 'globalPrivacyControl') === true,
    language: () => document.documentElement.lang || undefined,
    obstacle,
    notKept: 'Storage keeps no choice.',
    ready: undefined,
    locked,
    watch,
    renewal:
      renewUrl === undefined
        ? undefined
        : new CookieRenewal(renewUrl, store, () => document.cookie.includes('_svc_renewed')),
    // Bundlers must not change the address of the service.
    load: (address) => import(/* webpackIgnore: true */ /* @vite-ignore */ address),
    iabFailed: () => dispatchEvent(new Event('consent-ledger-error')),
    report: (error) => reportError(error),
  };
}

/** Without a secure context there is no WebCrypto, so no request can be signed. */
function obstacle(): ServiceError | null {
  if (globalThis.crypto?.subtle !== undefined) return null;
  return new ServiceError('Consents need https.', 'INSECURE_CONTEXT', 0);
}

function watch({ look, resume }: Watcher): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const resumeIfVisible = (): void => {
    if (document.visibilityState === 'visible') resume();
  };
  addEventListener('online', resumeIfVisible, { signal });
  // A page that the browser has restored from memory.
  addEventListener('pageshow', ({ persisted }) => persisted && resumeIfVisible(), { signal });
  document.addEventListener('visibilitychange', resumeIfVisible, { signal });
  // Another tab queued a choice.
  addEventListener('storage', look, { signal });
  return () => ended.abort();
}

/** Lets one tab send a stream at a time. Another tab may send between two attempts. */
async function locked<T>(stream: string, action: () => Promise<T>): Promise<T> {
  let isBegun = false;
  const begin = () => {
    isBegun = true;
    return action();
  };
  try {
    // Absent in browsers before 2022, and refused in a sandboxed frame, which shares no queue with
    // other tabs. The idempotency key then prevents second records.
    return await navigator.locks.request(`_svc_consent:${stream}`, begin);
  } catch (error) {
    if (isBegun) throw error;
    return begin();
  }
}
