// Runs the rules with the built script for pages, in a browser: bundled for a page that has the script at `/consent.js`.
// Each start is a frame of its own. What the banner states beside a choice keeps it from sending the same as the module.

import { openAccount } from '../../../sdk/account/account.js';
import type { Started } from '../../../sdk/browser/src/start.js';
import { type Adapter, conformance, installPage } from '../../../sdk/conformance/src/index.js';
import { opened } from './app-adapter.js';

function scriptAdapter(text: string): Adapter {
  return {
    name: 'script',
    open: (device) => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      const page = frame.contentDocument?.defaultView;
      if (page == null) throw new Error('the frame has no window');
      installPage(device, page);
      page.document.documentElement.lang = 'en';
      const script = page.document.createElement('script');
      script.dataset.baseUrl = device.baseUrl;
      script.dataset.apiKey = device.apiKey;
      script.textContent = text;
      page.document.head.append(script);
      const started: Started | undefined = Reflect.get(page, 'consentLedger');
      if (started === undefined) throw new Error('the script did not start');
      // The address of the service is none that answers here.
      Reflect.set(started.consent, 'file', async () => ({ openAccount }));
      return opened(
        () => started.consent,
        () => {
          started.consent.stop();
          frame.remove();
        },
        () => device.browser.named('_svc_consent')[0],
      );
    },
  };
}

/** @returns what the script breaks, each in words */
export async function brokenByScript(): Promise<readonly string[]> {
  const script = scriptAdapter(await (await fetch('/consent.js')).text());
  const broken: string[] = [];
  for (const { run } of conformance())
    await run(script).catch((error: unknown) => {
      broken.push(String(error));
    });
  return broken;
}
Reflect.set(globalThis, 'brokenByScript', brokenByScript);
