import type { NetworkAnswer, NetworkRequest, Surroundings } from '../../core/ports.js';
import { ServiceError } from '../../shared/service-error.js';
import { appCryptography } from './app-cryptography.js';
import { AppJar } from './app-jar.js';
import type { AppStore } from './app-store.js';
import { inTime } from './in-time.js';
import type { MobileOptions } from './options.js';

const TIMEOUT_MS = 30_000;

/** An app, as the core sees it. */
export function appSurroundings(options: MobileOptions, store: AppStore): Surroundings {
  const { randomBytes = randomOfEngine(), isSignalled = () => false, watch } = options;
  const clock = (): number => Date.now();
  return {
    jar: new AppJar(store),
    store,
    // A response that arrives later is ignored: the same consent is sent again under the same key.
    network: (request) => inTime(answerTo(request, options), TIMEOUT_MS),
    cryptography: appCryptography(randomBytes),
    clock,
    isSignalled,
    language: () => undefined,
    obstacle: () => (randomBytes === undefined ? noRandom() : null),
    notKept: 'This device keeps no choice: it is asked again when the app is started anew.',
    ready: () => store.load(),
    // The next start of the app must know each consent that the service has recorded.
    locked: (_, action) => store.settled().then(action),
    watch: ({ resume }) => watch?.(resume) ?? (() => undefined),
    renewal: undefined,
    load: () => Promise.reject(new Error('An app loads no files.')),
    report: (error) => console.error(error),
  };
}

async function answerTo(
  { url, method, headers, body }: NetworkRequest,
  { origin, fetch: send = fetch }: MobileOptions,
): Promise<NetworkAnswer> {
  const response = await send(url, {
    method,
    headers: { ...headers, ...(origin !== undefined && { Origin: origin }) },
    ...(body !== undefined && { body }),
    credentials: 'omit',
    cache: 'no-cache',
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('Retry-After') };
}

function randomOfEngine(): MobileOptions['randomBytes'] {
  const engine = typeof crypto === 'undefined' ? undefined : crypto;
  return engine?.getRandomValues && ((count) => engine.getRandomValues(new Uint8Array(count)));
}

function noRandom(): ServiceError {
  const message = 'No source of random bytes: state the option randomBytes, or add crypto.getRandomValues.';
  return new ServiceError(message, 'UNAVAILABLE', 0);
}
