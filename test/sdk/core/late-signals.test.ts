import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ModelBrowser } from '../../../sdk/conformance/src/browser.js';
import type { ChoiceSignals } from '../../../sdk/core/choice-signals.js';
import { ConsentCore } from '../../../sdk/core/consent.js';
import { quietPage } from './model/quiet-page.js';
import { configurationIn } from './model/site.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('signals of IAB that arrive after the question are stated with the choice', async () => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const address = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/' };
  const browser = new ModelBrowser(() => Date.now());
  const data = { ...configurationIn('gdpr'), iab: { tcf: {} } };
  const sent: unknown[] = [];
  let arrive: (signals: ChoiceSignals) => void = () => undefined;
  const consent = new ConsentCore(
    { baseUrl: 'https://consent.example.org', apiKey: 'svc_live_x' },
    {
      ...quietPage(browser, address),
      network: ({ body }) => {
        if (body === undefined)
          return Promise.resolve({ status: 200, text: JSON.stringify({ data }), retryAfter: null });
        sent.push(JSON.parse(body));
        return new Promise(() => undefined);
      },
      iabFailed: () => undefined,
      load: async <T>() =>
        ({
          speakIab: () =>
            new Promise((resolve) => {
              arrive = resolve;
            }),
        }) as T,
      report: (error) => console.error(error),
    },
  );
  const started = consent.start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await started).status).toBe('needed');
  arrive({ stringsOf: () => ({ tc_string: 'of the late list' }) });
  await vi.advanceTimersByTimeAsync(0);
  void consent.acceptAll();
  await vi.advanceTimersByTimeAsync(0);
  consent.stop();
  expect(sent).toMatchObject([{ decision: 'accepted', iab: { tc_string: 'of the late list' } }]);
});
