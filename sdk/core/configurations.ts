import { ServiceError } from '../shared/service-error.js';
import { type Configuration, isConfiguration } from './answers.js';
import { isNumber, isText, objectOf } from './guards.js';
import type { CoreOptions } from './options.js';
import type { Store, Surroundings } from './ports.js';
import { isPassing, type Service } from './service.js';

interface CachedConfiguration {
  /** Service and API key that it was read with. */
  readonly key: string;
  /** Unix milliseconds. */
  readonly readAt: number;
  readonly configuration: Configuration;
}
const isCached = objectOf<CachedConfiguration>({
  key: isText,
  readAt: isNumber,
  configuration: isConfiguration,
});

const DEFAULT_MAX_AGE_SECONDS = 300;

/** Reads the configuration of the site from the service, and caches it on this device. */
export class Configurations {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #service: Service;
  readonly #options: CoreOptions;
  readonly #onRead: (configuration: Configuration) => void;

  /** @param onRead a function that is called with every response of the service */
  constructor(
    { store, clock }: Pick<Surroundings, 'store' | 'clock'>,
    service: Service,
    options: CoreOptions,
    onRead: (configuration: Configuration) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#service = service;
    this.#options = options;
    this.#onRead = onRead;
  }

  /**
   * Returns the recently read configuration, or reads it again. Offline, the visitor chooses by the cached texts; the
   * service refuses a choice made by outdated texts.
   * @throws ServiceError
   */
  async in(language: string | undefined): Promise<Configuration> {
    const cached = this.cached(language);
    if (cached?.isFresh === true) return cached.configuration;
    try {
      return await this.read(language);
    } catch (error) {
      if (error instanceof ServiceError && isPassing(error) && cached !== undefined) return cached.configuration;
      throw error;
    }
  }

  /** Reads the configuration again. @throws ServiceError */
  async read(language: string | undefined): Promise<Configuration> {
    const { apiKey, baseUrl } = this.#options;
    const configuration = await this.#service.get(`/tool/v1/config${languageQuery(language)}`, isConfiguration);
    this.#onRead(configuration);
    const cached: CachedConfiguration = { key: baseUrl + apiKey, readAt: this.#clock(), configuration };
    // A choice names the language of its texts, by which the next start finds them without a network.
    for (const name of new Set([language ?? '', configuration.language])) this.#store.write(`config:${name}`, cached);
    return configuration;
  }

  cached(language: string | undefined): { configuration: Configuration; isFresh: boolean } | undefined {
    const cached = this.#store.read(`config:${language ?? ''}`, isCached);
    const { apiKey, baseUrl, configurationMaxAge = DEFAULT_MAX_AGE_SECONDS } = this.#options;
    if (cached?.key !== baseUrl + apiKey) return undefined;
    const age = this.#clock() - cached.readAt;
    const isFresh = age >= 0 && age < configurationMaxAge * 1000;
    const { configuration } = cached;
    // Since then, the visitor may have come to a place that has another rule.
    return isFresh || configuration.rule_id === undefined ? { configuration, isFresh } : undefined;
  }
}

/** A query that names a language, if one is wanted, and to which another parameter can be added. */
export function languageQuery(language: string | undefined): string {
  return `?${language === undefined ? '' : `language=${encodeURIComponent(language)}&`}`;
}
