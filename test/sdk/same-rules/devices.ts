import { createHash, createHmac } from 'node:crypto';
import { createElement, StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { Consent as PageConsent } from '../../../sdk/browser/src/consent.js';
import type { ConsentSource } from '../../../sdk/core/consent.js';
import { Consent as AppConsent } from '../../../sdk/mobile/src/index.js';
import { ConsentSourceProvider, useConsent } from '../../../sdk/react/src/headless.js';
import { ModelBrowser } from '../core/model/browser.js';
import type { VirtualTime } from './virtual-time.js';

const OPTIONS = { baseUrl: 'https://consent.example', apiKey: 'svc_live_x' };
const ADDRESS = { protocol: 'https:', hostname: 'shop.example', pathname: '/' };

/** An SDK on a device of its own, whose page or app can be opened and closed again and again. */
export interface SdkOnDevice {
  readonly name: string;
  open(): void;
  close(): void;
  /** The consent of the page or app that is open, as a user interface sees it. */
  consent(): ConsentSource;
  /** The text of the choice that the device keeps, as in the cookie; undefined without one. */
  kept(): string | undefined;
}

export interface DeviceSurroundings {
  readonly time: VirtualTime;
  readonly isSignalled: () => boolean;
}

/** Bytes that were never used: a number that grows. */
let used = 0;
function fill<T extends Uint8Array>(bytes: T): T {
  used += 1;
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .fill(0)
    .writeUInt32BE(used, bytes.length - 4);
  return bytes;
}

/** WebCrypto as far as the SDK for pages calls it, without threads: the test waits for promises alone. */
const webCrypto = {
  getRandomValues: fill,
  subtle: {
    digest: async (_: string, bytes: Uint8Array) => createHash('sha256').update(bytes).digest(),
    importKey: async (_: string, key: Uint8Array) => key,
    sign: async (_: string, key: Uint8Array, bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest(),
  },
};

/** Puts a browser into the globals of this process. */
function enter(browser: ModelBrowser, { isSignalled }: DeviceSurroundings): void {
  const nothing = (): void => undefined;
  const page = browser.page(ADDRESS);
  const element = { nodeType: 1, lang: 'en', addEventListener: nothing, removeEventListener: nothing };
  const document = {
    nodeType: 9,
    visibilityState: 'visible',
    addEventListener: nothing,
    removeEventListener: nothing,
    documentElement: element,
    dispatchEvent: nothing,
    activeElement: null,
    get cookie() {
      return page.cookie;
    },
    set cookie(text: string) {
      page.cookie = text;
    },
  };
  const navigator = {
    userAgent: 'test',
    get globalPrivacyControl() {
      return isSignalled();
    },
  };
  const globals = {
    window: globalThis,
    document,
    location: ADDRESS,
    navigator,
    crypto: webCrypto,
    addEventListener: nothing,
    dispatchEvent: nothing,
    HTMLIFrameElement: class {},
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  Object.defineProperty(globalThis, 'localStorage', {
    get: browser.storageOf(ADDRESS.hostname),
    configurable: true,
  });
}

/** The SDK for pages. */
export function pageDevice(surroundings: DeviceSurroundings): SdkOnDevice {
  const browser = new ModelBrowser(() => surroundings.time.now);
  let consent: PageConsent | undefined;
  return {
    name: 'browser',
    open: () => {
      enter(browser, surroundings);
      consent = new PageConsent(OPTIONS);
      consent.start();
    },
    close: () => consent?.stop(),
    consent: () => defined(consent),
    kept: () => browser.named('_svc_consent')[0],
  };
}

/** The SDK for React in strict mode, on a page; its actions are those of the hook. */
export function reactDevice(surroundings: DeviceSurroundings): SdkOnDevice {
  const browser = new ModelBrowser(() => surroundings.time.now);
  let root: Root | undefined;
  let consent: ConsentSource | undefined;
  const Probe = () => {
    const value = useConsent();
    const { status, configuration, choice, error } = value;
    consent = {
      ...bound(value.consent()),
      choose: value.choose,
      acceptAll: value.acceptAll,
      rejectAll: value.withdraw,
      allows: value.allows,
      allowsService: value.allowsService,
      state: { status, configuration, choice, error },
    };
    return null;
  };
  return {
    name: 'react',
    open: () => {
      enter(browser, surroundings);
      root = createRoot(container());
      const provider = createElement(
        ConsentSourceProvider,
        { consent: () => new PageConsent(OPTIONS) },
        createElement(Probe),
      );
      root.render(createElement(StrictMode, null, provider));
    },
    close: () => root?.unmount(),
    consent: () => defined(consent),
    kept: () => browser.named('_svc_consent')[0],
  };
}

/** The members of a consent without its state, which the hook gives. */
function bound(consent: ConsentSource): Omit<ConsentSource, 'state'> {
  return {
    subscribe: (listener) => consent.subscribe(listener),
    start: () => consent.start(),
    stop: () => consent.stop(),
    resume: () => consent.resume(),
    choose: (...args) => consent.choose(...args),
    acceptAll: (...args) => consent.acceptAll(...args),
    rejectAll: (...args) => consent.rejectAll(...args),
    optOutOfSale: (...args) => consent.optOutOfSale(...args),
    document: (slug) => consent.document(slug),
    approve: (...args) => consent.approve(...args),
    setLanguage: (language) => consent.setLanguage(language),
    allows: (category) => consent.allows(category),
    allowsService: (service) => consent.allowsService(service),
    follow: (record) => consent.follow(record),
    records: () => consent.records(),
    queued: () => consent.queued(),
    proofPage: consent.proofPage,
    isGpcOn: consent.isGpcOn,
    isOptedOutOfSale: consent.isOptedOutOfSale,
    areSettingsOpen: consent.areSettingsOpen,
    showsSettings: (areOpen) => consent.showsSettings(areOpen),
    asked: consent.asked,
    withdrawnAt: consent.withdrawnAt,
    notice: consent.notice,
    showsNotice: (noticeOf) => consent.showsNotice(noticeOf),
    addressOf: (path) => consent.addressOf(path),
  };
}

/** The SDK for apps. */
export function appDevice({ isSignalled }: DeviceSurroundings): SdkOnDevice {
  const texts = new Map<string, string>();
  let consent: AppConsent | undefined;
  return {
    name: 'mobile',
    open: () => {
      consent = new AppConsent({
        ...OPTIONS,
        language: 'en',
        storage: {
          keys: async () => [...texts.keys()],
          get: async (name) => texts.get(name) ?? null,
          set: async (name, text) => void texts.set(name, text),
          remove: async (name) => void texts.delete(name),
        },
        randomBytes: (count) => fill(new Uint8Array(count)),
        isSignalled,
      });
      consent.start();
    },
    close: () => consent?.stop(),
    consent: () => defined(consent),
    kept: () => {
      const kept: unknown = JSON.parse(texts.get('_svc_consent:kept:_svc_consent') ?? '{}');
      return kept instanceof Object && 'text' in kept ? String(kept.text) : undefined;
    },
  };
}

function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is open');
  return value;
}

/** An element that React takes for its root. The components of the test draw nothing into it. */
function container(): Element {
  const nothing = (): void => undefined;
  const element: unknown = {
    nodeType: 1,
    nodeName: 'DIV',
    tagName: 'DIV',
    namespaceURI: 'http://www.w3.org/1999/xhtml',
    addEventListener: nothing,
    removeEventListener: nothing,
    ownerDocument: globalThis.document,
  };
  return element as Element;
}
