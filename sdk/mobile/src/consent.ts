import { ConsentCore } from '../../core/consent.js';
import { AppStore } from './app-store.js';
import { appSurroundings } from './app-surroundings.js';
import type { MobileOptions } from './options.js';

/**
 * The consent of one person in an app, without a user interface. Create one for the app, and call `start`. It works
 * without a network: a choice applies immediately, is stored on the device, and is recorded once.
 */
export class Consent extends ConsentCore {
  readonly #store: AppStore;

  constructor(options: MobileOptions) {
    const store = new AppStore(options.storage, () =>
      console.warn('Consent Ledger: the storage of the app does not answer: choices are kept in memory alone.'),
    );
    super(options, appSurroundings(options, store));
    this.#store = store;
  }

  /** Resolves when everything that was chosen so far survives the end of the app. */
  kept(): Promise<void> {
    return this.#store.settled();
  }
}
