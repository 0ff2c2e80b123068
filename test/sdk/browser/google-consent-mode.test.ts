import { afterEach, expect, test, vi } from 'vitest';
import { speakGoogleConsentMode } from '../../../sdk/browser/src/google-consent-mode.js';
import type { ConsentState } from '../../../sdk/core/consent-state.js';

afterEach(() => vi.unstubAllGlobals());

/** A consent whose state the test changes. @returns the data layer of the page, and the change */
function spoken(layerName?: string) {
  const layer: unknown[] = [];
  vi.stubGlobal(layerName ?? 'dataLayer', layer);
  let permitted: readonly string[] = [];
  let tell: (state: ConsentState) => void = () => undefined;
  speakGoogleConsentMode(
    {
      allows: (category) => permitted.includes(category),
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    undefined,
    layerName,
  );
  const change = (status: ConsentState['status'], categories: readonly string[] | null): void => {
    permitted = categories ?? [];
    const answers = Object.fromEntries(permitted.map((key) => [key, true]));
    const choice = { decision: 'partial', document_version_id: 'v1', language: 'en', categories: answers, at: 1 };
    tell({ status, configuration: null, choice: categories === null ? null : choice, error: null });
  };
  return { layer, change };
}
const told = (layer: readonly unknown[]) =>
  layer.map((one) => (Object.prototype.toString.call(one) === '[object Arguments]' ? Object.values(one ?? {}) : one));
const update = (analytics_storage: string) => ['consent', 'update', expect.objectContaining({ analytics_storage })];
const EVENT = { event: 'consent-ledger-choice' };

// Google's documentation: tags wait for `wait_for_update` milliseconds, or until the first `update`.
test('an update is for a choice alone, so that tags wait for it', () => {
  const { layer, change } = spoken();
  for (const status of ['loading', 'needed', 'signalled', 'unavailable'] as const) change(status, null);
  expect(told(layer)).toEqual([['consent', 'default', expect.objectContaining({ wait_for_update: 500 })]]);
  change('chosen', []);
  change('chosen', ['analytics']);
  // The signal of the browser ended the choice.
  change('signalled', null);
  expect(told(layer).slice(1)).toEqual([update('denied'), EVENT, update('granted'), EVENT, update('denied'), EVENT]);
});

test('a page names its data layer', () => {
  const { layer, change } = spoken('tags');
  change('chosen', ['analytics']);
  expect(told(layer)).toEqual([['consent', 'default', expect.anything()], update('granted'), EVENT]);
});
