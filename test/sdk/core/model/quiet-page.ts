import { randomBytes } from 'node:crypto';
import type { ModelBrowser } from '../../../../sdk/conformance/src/browser.js';
import { type CookieAddress, CookieJar } from '../../../../sdk/core/cookie-jar.js';
import { PageStore } from '../../../../sdk/core/page-store.js';
import type { Surroundings } from '../../../../sdk/core/ports.js';
import { appCryptography } from '../../../../sdk/mobile/src/app-cryptography.js';

/** What the core sees on a page of a browser that states no signal and has no other tab: all but its network. */
export function quietPage(browser: ModelBrowser, address: CookieAddress): Omit<Surroundings, 'network' | 'report'> {
  return {
    jar: new CookieJar(browser.page(address), address, undefined),
    store: new PageStore(browser.storageOf(address.hostname)),
    cryptography: appCryptography((count) => randomBytes(count)),
    clock: () => Date.now(),
    isSignalled: () => false,
    language: () => undefined,
    obstacle: () => null,
    notKept: '',
    ready: undefined,
    locked: (_, action) => action(),
    watch: () => () => undefined,
    renewal: undefined,
    load: () => Promise.reject(new Error('this page loads no files')),
  };
}
