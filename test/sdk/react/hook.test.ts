import { createElement, type FunctionComponent } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { Consent } from '../../../sdk/mobile/src/index.js';
import { ConsentSourceProvider, type ConsentValue, useConsent } from '../../../sdk/react/src/headless.js';

/** Compiled with the types of a browser, which tests do without. */
const PLACEHOLDER = '../../../sdk/react/src/placeholder.js';
const Placeholder = z.object({ PlaceholderGate: z.custom<FunctionComponent<object>>() });

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

test('a server draws an empty placeholder, and makes no consent', async () => {
  const { PlaceholderGate } = Placeholder.parse(await import(PLACEHOLDER));
  const consent = () => {
    throw new Error('a consent needs a document');
  };
  const options = { category: 'media', placeholder: { title: 'A film' } };
  const gate = createElement(PlaceholderGate, options, 'the film');
  expect(renderToString(createElement(ConsentSourceProvider, { consent }, gate))).toBe(
    '<consent-placeholder title="A film" data-consent="media"></consent-placeholder>',
  );
});
