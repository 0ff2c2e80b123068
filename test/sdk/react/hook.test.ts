import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Consent } from '../../../sdk/mobile/src/index.js';
import { ConsentSourceProvider, type ConsentValue, useConsent } from '../../../sdk/react/src/headless.js';

const nothing = async () => undefined;
const storage = { keys: async () => [], get: async () => null, set: nothing, remove: nothing };

test('before the texts are known, a choice rejects and does not throw, and nothing is asked', async () => {
  const make = () => new Consent({ baseUrl: 'https://consent.example', apiKey: 'svc_live_x', storage });
  const seen: ConsentValue[] = [];
  const Probe = () => {
    seen.push(useConsent());
    return null;
  };
  renderToString(createElement(ConsentSourceProvider, { consent: make }, createElement(Probe)));
  expect(seen).toHaveLength(1);
  for (const { layer, withdraw, acceptAll, choose } of seen) {
    expect(layer).toBeNull();
    for (const act of [withdraw, acceptAll, () => choose({})])
      await expect(act()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
});
