import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openAccount } from '../../../sdk/account/account.js';
import { Consent } from '../../../sdk/browser/src/consent.js';
import { type Adapter, type Device, installPage } from '../../../sdk/conformance/src/index.js';
import type { ConsentSource } from '../../../sdk/core/consent.js';
import { ConsentSourceProvider, useConsent } from '../../../sdk/react/src/headless.js';
import { opened } from './app-adapter.js';

const optionsOf = ({ baseUrl, apiKey }: Device) => ({ baseUrl, apiKey, accounts: { openAccount } });

/** The SDK for pages, as a module. */
export const pageAdapter: Adapter = {
  name: 'browser',
  open: (device) => {
    installPage(device);
    const consent = new Consent(optionsOf(device));
    consent.start();
    return opened(
      () => consent,
      () => consent.stop(),
      () => device.browser.named('_svc_consent')[0],
    );
  },
};

/** The SDK for React in strict mode, on a page; its actions are those of the hook. */
export const reactAdapter: Adapter = {
  name: 'react',
  open: async (device) => {
    installPage(device);
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
    const root = createRoot(container());
    const provider = createElement(
      ConsentSourceProvider,
      { consent: () => new Consent(optionsOf(device)) },
      createElement(Probe),
    );
    root.render(createElement(StrictMode, null, provider));
    return opened(
      () => defined(consent),
      () => root.unmount(),
      () => device.browser.named('_svc_consent')[0],
    );
  },
};

/** The members of a consent without its state, which the hook gives. */
function bound(consent: ConsentSource): Omit<ConsentSource, 'state'> {
  return {
    subscribe: (listener) => consent.subscribe(listener),
    start: () => consent.start(),
    stop: () => consent.stop(),
    resume: () => consent.resume(),
    choose: (...args) => consent.choose(...args),
    acceptAll: (...args) => consent.acceptAll(...args),
    permitted: (isAll) => consent.permitted(isAll),
    rejectAll: (...args) => consent.rejectAll(...args),
    optOutOfSale: (...args) => consent.optOutOfSale(...args),
    document: (slug) => consent.document(slug),
    approve: (...args) => consent.approve(...args),
    setLanguage: (language) => consent.setLanguage(language),
    allows: (category) => consent.allows(category),
    allowsService: (service) => consent.allowsService(service),
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
    account: consent.account,
    signIn: (person) => consent.signIn(person),
    signOut: () => consent.signOut(),
    showsNotice: (noticeOf) => consent.showsNotice(noticeOf),
    file: (name) => consent.file(name),
  };
}

function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is drawn yet');
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
