import type { Device } from './adapter.js';
import { hmacSha256, sha256 } from './sha256.js';

/** The address of the page on which the suite runs an SDK for pages. */
export const ADDRESS = { protocol: 'https:', hostname: 'shop.example', pathname: '/' } as const;

/** The window that an SDK runs in, and the process if that has none. */
type Target = typeof globalThis;

/**
 * Puts a page of the device into a window, or into the globals of a process without one: its cookies, storage, network,
 * signal and clock. Call it whenever the adapter opens a page. A process without a window gets a document without
 * content, on which an SDK without a user interface runs.
 * @param target the window, or the globals of this process
 */
export function installPage(device: Device, target: Target = globalThis): void {
  if (target !== globalThis) device.installClock(target);
  const hasWindow = Reflect.get(target, 'window') !== undefined && Reflect.get(target, 'customElements') !== undefined;
  const page = device.browser.page(ADDRESS);
  const cookie = {
    get: () => page.cookie,
    set: (text: string) => {
      page.cookie = text;
    },
  };
  const signal = { get: () => device.isSignalled() };
  const globals: Record<string, PropertyDescriptor> = {
    fetch: { value: device.fetch },
    crypto: { value: pageCrypto(device) },
    localStorage: { get: device.browser.storageOf(ADDRESS.hostname) },
  };
  if (hasWindow) {
    replace(device, Reflect.get(target, 'document'), { cookie });
    // The pages of the suite are one after the other, and need no lock.
    replace(device, Reflect.get(target, 'navigator'), { globalPrivacyControl: signal, locks: { value: undefined } });
  } else {
    const document = emptyDocument();
    Object.defineProperty(document, 'cookie', cookie);
    const navigator = Object.defineProperty({ userAgent: 'conformance' }, 'globalPrivacyControl', signal);
    const nothing = (): void => undefined;
    for (const [name, value] of Object.entries({
      window: target,
      document,
      location: ADDRESS,
      navigator,
      addEventListener: nothing,
      dispatchEvent: nothing,
      HTMLIFrameElement: class {},
    }))
      globals[name] = { value, writable: true };
  }
  replace(device, target, globals);
}

/** Replaces members of an object until the case ends. */
function replace(device: Device, of: object, members: Readonly<Record<string, PropertyDescriptor>>): void {
  const before = Object.keys(members).map((name) => [name, Object.getOwnPropertyDescriptor(of, name)] as const);
  for (const [name, member] of Object.entries(members))
    Object.defineProperty(of, name, { ...member, configurable: true });
  device.atEnd(() => {
    for (const [name, member] of before) {
      if (member === undefined) Reflect.deleteProperty(of, name);
      else Object.defineProperty(of, name, member);
    }
  });
}

/** WebCrypto as far as an SDK signs requests, with bytes of the suite, and without threads. */
function pageCrypto({ randomBytes }: Device): unknown {
  return {
    getRandomValues: (bytes: Uint8Array) => {
      bytes.set(randomBytes(bytes.length));
      return bytes;
    },
    subtle: {
      digest: async (_: string, bytes: Uint8Array) => sha256(bytes),
      importKey: async (_: string, key: Uint8Array) => key,
      sign: async (_: string, key: Uint8Array, bytes: Uint8Array) => hmacSha256(key, bytes),
    },
  };
}

/** A document that has nothing in it, as far as an SDK without a user interface asks. */
function emptyDocument(): object {
  const nothing = (): void => undefined;
  const listens = { addEventListener: nothing, removeEventListener: nothing };
  return {
    ...listens,
    nodeType: 9,
    visibilityState: 'visible',
    documentElement: { ...listens, nodeType: 1, lang: 'en' },
    dispatchEvent: nothing,
    activeElement: null,
  };
}
