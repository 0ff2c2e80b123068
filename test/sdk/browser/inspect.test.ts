import { describe, expect, test } from 'vitest';
import { FRAMEWORK_PLACES, frameworkOf } from '../../../schemas/law/framework-places.js';
import { type Facts, findingOf, type Gated } from '../../../sdk/browser/src/inspect/finding.js';
import { REGIONS } from '../../../sdk/browser/src/inspect/regions.js';
import { answerOf, sourceOf, wordsOf } from '../../../sdk/browser/src/inspect/words.js';
import { completed } from '../../../sdk/core/choice.js';
import { configurationIn } from '../core/model/site.js';

const configuration = configurationIn('gdpr', 'v1', [], ['maps', 'films']);
const frame: Gated = {
  tag: 'iframe',
  type: '',
  dataType: null,
  address: '',
  waitingAddress: 'https://maps.example/',
  isLoaded: false,
  categories: 'marketing',
  services: null,
};
const script: Gated = { ...frame, tag: 'script', type: 'text/plain', waitingAddress: null };
const unanswered: Facts = {
  status: 'needed',
  error: null,
  configuration,
  choice: null,
  isSignalled: false,
  isGateLoaded: true,
  allows: (category) => category === 'necessary',
  allowsService: () => false,
};
/** A page whose visitor answered. */
function answered(categories: Record<string, boolean>, services: Record<string, boolean> = {}, was = false): Facts {
  const choice = {
    ...completed(configuration, { categories, services }, was),
    document_version_id: 'v1',
    language: 'en',
    at: 1,
  };
  return {
    ...unanswered,
    status: 'chosen',
    choice,
    allows: (category) => choice.categories[category] === true,
    allowsService: (service) => choice.services?.[service] === true,
  };
}
const withTestKey: Facts = {
  ...unanswered,
  configuration: {
    categories: configuration.categories.map((one) => (one.required ? one : { ...one, key: 'svc_test', services: [] })),
  },
};

describe('what the panel says of an element', () => {
  test.each<[string, Gated, Facts | null, string, RegExp]>([
    ['nothing answered', frame, unanswered, 'waits', /has not answered yet/],
    ['the signal', frame, { ...unanswered, status: 'signalled', isSignalled: true }, 'waits', /Global Privacy Control/],
    ['a refusal', frame, answered({}), 'waits', /^The visitor refused marketing\.$/],
    ['a withdrawal', frame, answered({}, {}, true), 'waits', /^The visitor withdrew marketing\.$/],
    [
      'one refused service',
      frame,
      answered({}, { maps: true }),
      'waits',
      /refused films, and marketing is permitted only/,
    ],
    [
      'an added service',
      { ...frame, services: 'maps' },
      { ...answered({}), choice: { ...base(), services: {} } },
      'waits',
      /maps was added after the choice/,
    ],
    [
      'an unknown category',
      { ...frame, categories: 'marketng' },
      unanswered,
      'wrong',
      /no category marketng\. It has: necessary, analytics, marketing\./,
    ],
    [
      'an unknown service',
      { ...frame, services: 'map' },
      unanswered,
      'wrong',
      /no service map\. It has: maps, films\./,
    ],
    [
      'a service in the place of a category',
      { ...frame, categories: 'maps' },
      unanswered,
      'wrong',
      /name it in data-consent-service/,
    ],
    ['a test key where visitors are', frame, withTestKey, 'wrong', /test key on a host that visitors may use/],
    ['no SDK', frame, null, 'waits', /uses it as a module/],
    ['no configuration', frame, { ...unanswered, status: 'loading', configuration: null }, 'waits', /has not arrived/],
    [
      'a refused key',
      frame,
      { ...unanswered, status: 'unavailable', error: { code: 'INVALID_API_KEY', message: 'Unknown.' } },
      'wrong',
      /INVALID_API_KEY: Unknown\./,
    ],
    ['no names', { ...frame, categories: ' ' }, unanswered, 'wrong', /names no category/],
    [
      'an address in src',
      { ...frame, waitingAddress: null, address: '/map' },
      unanswered,
      'wrong',
      /loads without asking/,
    ],
    ['an address in src as well', { ...frame, address: '/map' }, unanswered, 'wrong', /beside data-consent-src/],
    ['no address', { ...frame, waitingAddress: null }, unanswered, 'wrong', /never loads anything/],
    ['a script that runs', { ...script, type: '' }, unanswered, 'wrong', /runs without asking/],
    [
      'a javascript: address',
      { ...frame, waitingAddress: 'javascript:1' },
      unanswered,
      'wrong',
      /no javascript: address/,
    ],
    [
      'a permission',
      { ...frame, isLoaded: true, waitingAddress: null, address: '/map' },
      answered({ marketing: true }),
      'open',
      /Permitted and loaded/,
    ],
    [
      'a single load',
      { ...frame, isLoaded: true, waitingAddress: null, address: '/map' },
      unanswered,
      'open',
      /loaded it once/,
    ],
    [
      'a permission without the gate',
      script,
      { ...answered({ marketing: true }), isGateLoaded: false },
      'wrong',
      /gate\.js/,
    ],
    [
      'a script of an unknown type',
      { ...script, dataType: 'text/json' },
      answered({ marketing: true }),
      'wrong',
      /data-type "text\/json"/,
    ],
    ['a script whose turn comes', script, answered({ marketing: true }), 'waits', /scripts before it/],
  ])('%s', (_, gated, facts, kind, why) => {
    const found = findingOf(gated, facts);
    expect(found.kind).toBe(kind);
    expect(found.why).toMatch(why);
  });
});

function base() {
  const { choice } = answered({});
  if (choice === null) throw new Error('the visitor answered');
  return choice;
}

test('the regions to try are one for each law of the service, with the law that it states', () => {
  expect(REGIONS.map(({ country, region }) => frameworkOf(country, region))).toEqual(REGIONS.map(({ law }) => law));
  const laws = [...FRAMEWORK_PLACES.map(({ framework }) => framework), 'none', null];
  expect(new Set(REGIONS.map(({ law }) => law))).toEqual(new Set(laws));
});

test('requests and answers are in words, without what identifies a visitor', () => {
  const body = { consent_type: 'cookie', decision: 'partial', visitor_id: 'v'.repeat(32), categories: { a: true } };
  expect(wordsOf(JSON.stringify(body))).toBe('cookie partial {"a":true}');
  expect(answerOf(202, JSON.stringify({ data: { consent_token: `ct_${'1'.repeat(32)}` } }))).toBe(
    '202, recorded as ct_111111111…',
  );
  expect(answerOf(422, '{"code":"VALIDATION_ERROR","message":"No."}')).toBe('422 VALIDATION_ERROR: No.');
});

test('says whether the configuration came from the service or from storage', () => {
  expect(sourceOf(2_000, 1_000, 5_000)).toBe('read from the service 3 s ago, by this page');
  expect(sourceOf(500, 1_000, 61_500)).toBe('from the storage of this browser, read 61 s ago by an earlier page');
  expect(sourceOf(null, 1_000, 5_000)).toContain('does not say');
});
