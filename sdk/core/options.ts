import type { AccountModule, Person } from './account.js';

/** Options of every SDK: the service, the API key, and how consents are recorded. */
export interface CoreOptions {
  /** Origin of the service, for example `https://consent.example.org`. */
  readonly baseUrl: string;
  /** API key of the site, of scope `write`. It is not secret: every visitor can read it. */
  readonly apiKey: string;
  /** Language of the texts (BCP 47); if omitted, that of the page or the device. */
  readonly language?: string | undefined;
  /**
   * The site's reference for the person, at most 100 characters, not to be guessed. If it is
   * absent, a random one is made at the first choice and kept on this device.
   */
  readonly visitorId?: string | undefined;
  /** One-time token from the site's backend, for a document approval that requires one. */
  readonly approvalToken?: string | undefined;
  /** Who is signed in, if the page knows it from the start; else see `signIn`. */
  readonly person?: Person | undefined;
  /** The module that reads the choices of accounts. A page that does not bundle it loads it from the service. */
  readonly accounts?: AccountModule | undefined;
  /** How long a configuration is used without asking again, in seconds; if omitted, 300. */
  readonly configurationMaxAge?: number | undefined;
}
