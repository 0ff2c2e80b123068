import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DECISIONS } from '../../../schemas/events/consent-recorded.js';
import type { ConsentCategory } from '../../../schemas/events/site-config.js';
import {
  contradictoryServices,
  decidedServices,
  withoutContradiction,
} from '../../../src/pipeline/admission/services.js';
import { contradictedCategory } from '../../../verifier-cli/src/versions/answers.js';

const category = (key: string, services: readonly string[], required = false): ConsentCategory => ({
  key,
  required,
  title: {},
  purpose: {},
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
  ...(services.length > 0 && {
    services: services.map((service) => ({ key: service, name: service, recipient: 'Ltd', policy_url: null })),
  }),
});

const CONFIG = {
  categories: [category('necessary', ['basket'], true), category('media', ['films', 'maps']), category('plain', [])],
  service_switches: true,
};

test.each([
  // A caller who knows only categories: its services have the answer of each.
  [
    { categories: { necessary: true, media: true, plain: false } },
    { necessary: { basket: true }, media: { films: true, maps: true } },
  ],
  [
    { categories: { necessary: true, media: false }, services: { films: true } },
    { necessary: { basket: true }, media: { films: true, maps: false } },
  ],
  // A service without its category: the others are refused, so that records name all services of a category.
  [{ services: { maps: true } }, { media: { films: false, maps: true } }],
  // A service that is not of the site, and a name that every object inherits.
  [
    { categories: { media: false }, services: { ads: true, constructor: true } },
    { media: { films: false, maps: false } },
  ],
  [{ categories: { plain: true } }, null],
  [{ categories: null, services: null }, null],
  [{}, null],
])('the choice %j decides on the services %j', (choice, decided) => {
  expect(decidedServices({ decision: 'partial', ...choice }, CONFIG)).toEqual(decided);
});

test('nothing is decided on services where the site has no switches for them', () => {
  const choice = { decision: 'partial', categories: { media: true }, services: { films: true, maps: false } } as const;
  expect(decidedServices(choice, { categories: CONFIG.categories })).toBeNull();
  expect(decidedServices(choice, { ...CONFIG, service_switches: false })).toBeNull();
  expect(contradictoryServices(choice, { categories: CONFIG.categories })).toEqual([]);
});

test.each([
  ['partial', { media: true }, { films: false }, ['services.films']],
  ['partial', { media: false }, { films: true, maps: false }, []],
  ['partial', {}, { films: false }, []],
  ['accepted', { media: true }, { films: true, maps: true }, []],
  ['rejected', { media: false }, { films: true, maps: true }, ['services.films', 'services.maps']],
  ['rejected', { necessary: true, media: false }, { basket: true, films: false }, []],
  ['rejected', { necessary: true }, { basket: false }, ['services.basket']],
  // A withdrawal is never refused for its form.
  ['withdrawn', { media: true }, { films: false, basket: false }, []],
] as const)(
  '%s with the categories %j and the services %j contradicts itself in %j',
  (decision, categories, services, fields) => {
    const found = contradictoryServices({ decision, categories, services }, CONFIG);
    expect(found.map(({ field }) => field)).toEqual(fields);
  },
);

test('no admitted choice makes a record that permits a category and refuses a service of it', () => {
  const answer = (keys: readonly string[]) => fc.dictionary(fc.constantFrom(...keys), fc.boolean());
  const choice = fc.record({
    decision: fc.constantFrom(...DECISIONS),
    categories: fc.option(answer(['necessary', 'media', 'plain'])),
    services: fc.option(answer(['basket', 'films', 'maps', 'ads'])),
  });
  const check = (made: {
    decision: (typeof DECISIONS)[number];
    categories: Record<string, boolean> | null;
    services: Record<string, boolean> | null;
  }) => {
    if (contradictoryServices(made, CONFIG).length > 0) return;
    const services = decidedServices(made, CONFIG);
    const categories = withoutContradiction(made.categories, services);
    expect(contradictedCategory({ categories, services })).toBeNull();
    if (made.decision !== 'withdrawn') expect(categories).toEqual(made.categories);
  };
  fc.assert(fc.property(choice, check), {
    examples: [
      [
        {
          decision: 'withdrawn',
          categories: { media: true, necessary: true },
          services: { films: false, basket: false },
        },
      ],
    ],
  });
});
