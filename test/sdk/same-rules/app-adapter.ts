import { openAccount } from '../../../sdk/account/account.js';
import type { Adapter, OpenConsent } from '../../../sdk/conformance/src/index.js';
import { readChoice } from '../../../sdk/core/choice-text.js';
import type { ConsentSource } from '../../../sdk/core/consent.js';
import { Consent } from '../../../sdk/mobile/src/index.js';

/** The SDK for apps. */
export const appAdapter: Adapter = {
  name: 'mobile',
  open: (device) => {
    const consent = new Consent({
      baseUrl: device.baseUrl,
      apiKey: device.apiKey,
      language: 'en',
      storage: device.storage,
      fetch: device.fetch,
      randomBytes: device.randomBytes,
      isSignalled: device.isSignalled,
      accounts: { openAccount },
    });
    consent.start();
    return opened(
      () => consent,
      () => consent.stop(),
      async () => {
        const kept: unknown = JSON.parse((await device.storage.get('_svc_consent:kept:_svc_consent')) ?? '[]');
        return Array.isArray(kept) ? kept.map(String)[0] : undefined;
      },
    );
  },
};

/**
 * A consent of this project as the suite sees it.
 * @param current the consent as a user interface sees it now
 * @param kept the text of the choice that the device keeps, as in the cookie; undefined without one
 */
export function opened(
  current: () => ConsentSource,
  close: () => void,
  kept: () => string | undefined | Promise<string | undefined>,
): OpenConsent {
  return {
    get state() {
      return current().state;
    },
    allows: (category) => current().allows(category),
    allowsService: (service) => current().allowsService(service),
    choose: (categories, services) => current().choose(categories, undefined, services),
    acceptAll: () => current().acceptAll(),
    rejectAll: () => current().rejectAll(),
    optOutOfSale: (isOptedOut) => current().optOutOfSale(isOptedOut),
    signIn: (person) => current().signIn(person),
    signOut: () => current().signOut(),
    resume: () => current().resume(),
    close,
    details: async () => [
      current()
        .queued()
        .map(({ body }) => body),
      current()
        .records()
        .map(({ consent_token }) => consent_token),
      readChoice((await kept()) ?? ''),
    ],
  };
}
