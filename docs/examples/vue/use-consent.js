import { Consent } from '@consent-ledger/browser';
import { onScopeDispose, shallowRef } from 'vue';

/** The consent of the visitor, for the components of one app. Call it in the browser, once. */
export function createConsent(options) {
  const consent = new Consent(options);
  const state = shallowRef(consent.state);
  consent.subscribe((now) => {
    state.value = now;
  });
  consent.start();
  onScopeDispose(() => consent.stop());
  // Reading the state makes a component depend on it.
  const allows = (category) => state.value.status !== 'loading' && consent.allows(category);
  return { consent, state, allows };
}
