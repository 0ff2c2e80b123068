import { S2sConsentRequest } from '../../../schemas/api/consents.js';
import type { Consent } from '../../shared/types.js';

/** Age in milliseconds from which a configuration is read again before a consent is compared with it. */
const FRESH_MS = 60_000;

/**
 * Finds misspelt names before anything is sent. The service ignores unknown members, so a consent with `visitorId`
 * would belong to nobody, and no search and no erasure would find it.
 */
export class StrictConsents {
  #known: { readonly keys: ReadonlySet<string>; readonly readAt: number } | null = null;

  /** @param read a function that reads the configuration of the site */
  constructor(
    private readonly read: () => Promise<{ readonly categories: readonly NamedCategory[] }>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Checks consents before they are sent. If the configuration cannot be read, categories and services are not checked,
   * because a person's decision must not be lost because of a check.
   * @throws TypeError for an unknown member, or a category or service that the configuration in force does not have
   */
  async check(consents: readonly Consent[]): Promise<void> {
    for (const consent of consents) checkMembers(consent);
    const named = new Set(
      consents.flatMap(({ categories, services }) => [
        ...Object.keys(categories ?? {}).map((key) => `categories.${key}`),
        ...Object.keys(services ?? {}).map((key) => `services.${key}`),
      ]),
    );
    const unknown = await this.#unknownOf(named);
    if (unknown === undefined) return;
    const [kind = ''] = unknown.split('.', 1);
    const keys = [...(this.#known?.keys ?? [])].flatMap((key) => (key.startsWith(`${kind}.`) ? key.split('.')[1] : []));
    const what = kind === 'services' ? 'a service' : 'a category';
    throw new TypeError(`${unknown} is not ${what} of the site, which has: ${keys.join(', ') || 'none'}.`);
  }

  /** Before a refusal, the configuration is read again: it may have the category or service since. */
  async #unknownOf(named: ReadonlySet<string>): Promise<string | undefined> {
    const find = (): string | undefined => [...named].find((key) => this.#known?.keys.has(key) === false);
    if (named.size === 0) return undefined;
    const isFresh = this.#known !== null && this.now() - this.#known.readAt < FRESH_MS;
    if (isFresh && find() === undefined) return undefined;
    try {
      const { categories } = await this.read();
      const keys = categories.flatMap(({ key, services = [] }) => [
        `categories.${key}`,
        ...services.map((service) => `services.${service.key}`),
      ]);
      this.#known = { keys: new Set(keys), readAt: this.now() };
    } catch {
      this.#known = null;
    }
    return find();
  }
}

interface NamedCategory {
  readonly key: string;
  /** Absent from a service of an earlier version. */
  readonly services?: readonly { readonly key: string }[] | undefined;
}

function checkMembers(consent: Consent): void {
  for (const name of Object.keys(consent)) {
    if (Object.hasOwn(S2sConsentRequest.shape, name)) continue;
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const meant = Object.hasOwn(S2sConsentRequest.shape, snake) ? ` Did you mean ${snake}?` : '';
    throw new TypeError(`${name} is not a member of a consent.${meant} The option strict: false sends it anyway.`);
  }
}
