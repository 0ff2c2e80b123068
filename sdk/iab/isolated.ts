type Call = (...call: readonly unknown[]) => unknown;

declare global {
  var __tcfapi: Call | undefined;
  var __gpp: Call | undefined;
  function reportError(error: unknown): void;
}

/**
 * Wraps an IAB function so that each callback of the page runs in isolation. An error in one listener is reported to
 * the page, and affects neither the other listeners nor the record of the choice.
 * @param name `__tcfapi` or `__gpp`
 * @param position position of the callback among the parameters
 * @param install makes the library replace the function of the stub, and take over its calls and listeners
 */
export function installIsolated<T>(name: '__tcfapi' | '__gpp', position: number, install: () => T): T {
  const isolate = (call: readonly unknown[]): readonly unknown[] =>
    call.map((value, index) => (index === position ? isolated(value) : value));
  const stub: Call | undefined = globalThis[name];
  if (stub === undefined) console.warn(`Consent Ledger: iab-stub.js is missing, so ${name} is late.`);
  const queue = listOf(stub?.()).map((call) => (Array.isArray(call) ? isolate(call) : call));
  const events = listOf(name === '__gpp' ? stub?.('events') : []).map(withIsolatedCallback);
  globalThis[name] = (command?: unknown) => (command === 'events' ? events : queue);
  const installed = install();
  const call: Call | undefined = globalThis[name];
  globalThis[name] = (...stated) => call?.(...isolate(stated));
  return installed;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function withIsolatedCallback(event: unknown): unknown {
  return typeof event === 'object' && event !== null && 'callback' in event
    ? { ...event, callback: isolated(event.callback) }
    : event;
}

function isolated(callback: unknown): unknown {
  if (typeof callback !== 'function') return callback;
  return (...answer: readonly unknown[]): void => {
    try {
      callback(...answer);
    } catch (error) {
      reportError(error);
    }
  };
}
