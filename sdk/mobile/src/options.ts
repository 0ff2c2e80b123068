import type { CoreOptions } from '../../core/options.js';
import type { AppStorage } from './storage.js';

/** A function like `fetch`, with the part that the SDK calls. */
export type AppFetch = (
  url: string,
  options: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly credentials: 'omit';
    readonly cache: 'no-cache';
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** Options of the SDK for apps. */
export interface MobileOptions extends CoreOptions {
  /** Keeps texts for the app: `asyncStorage(AsyncStorage)`, `capacitorPreferences(Preferences)`, or your own. */
  readonly storage: AppStorage;
  /**
   * Origin of the app, as the site lists it among its allowed origins, for example
   * `app://com.example.shop`. A publishable key needs one. A web view (Capacitor) sends its own and
   * lets no program state another; leave it out there.
   */
  readonly origin?: string | undefined;
  /**
   * A cryptographic source of random bytes. It may be left out where `crypto.getRandomValues` exists:
   * in web views, and in React Native with a library that adds it.
   */
  readonly randomBytes?: ((count: number) => Uint8Array) | undefined;
  /** Sends requests instead of `fetch`, for example in an app that pins certificates. */
  readonly fetch?: AppFetch | undefined;
  /** Whether the person or the device refuses beforehand, as Global Privacy Control does in browsers. */
  readonly isSignalled?: (() => boolean) | undefined;
  /**
   * Calls a function whenever the app comes to the foreground or the network comes back, and returns a
   * function that ends this. Without it, call `resume` of the consent yourself.
   */
  readonly watch?: ((resume: () => void) => () => void) | undefined;
}
