import type { SeenRequest } from '../world.js';
import { API_KEY } from '../world.js';
import { ALL_LAWS, GDPR, type Rule } from './rule.js';
import { signatureOf } from './signature.js';

const HOUR_MS = 3_600_000;

/** What is sent to the service, and how often. */
export const RECORDS: readonly Rule[] = [
  {
    name: 'sends nothing about the visitor before a choice',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.nextStart();
      const others = visit.requests
        .map(({ path }) => path)
        .filter((path) => !/^\/tool\/v1\/(config|ping)\b/.test(path));
      visit.expect('requests beside those for the configuration', others, []);
      visit.expect(
        'a reference in them',
        visit.requests
          .map(({ path }) => path)
          .join()
          .includes('visitor'),
        false,
      );
    },
  },
  {
    name: 'records a choice once, with what was decided, the text that it answers, and the law and country stated',
    sites: [{ law: 'gdpr', country: 'DE' }],
    play: async (visit) => {
      await visit.start();
      await visit.choose({ analytics: true });
      await visit.nextStart();
      visit.expectDecisions('partial');
      const [body = {}] = bodies(visit.posts);
      const { consent_type, decision, categories, document_version_id, language, metadata } = body;
      const { visitor_country, compliance_framework } = body;
      visit.expect(
        'the recorded choice',
        { consent_type, decision, categories, document_version_id, language, visitor_country, compliance_framework },
        {
          consent_type: 'cookie',
          decision: 'partial',
          categories: { necessary: true, analytics: true, marketing: false },
          document_version_id: 'v1',
          language: 'en',
          visitor_country: 'DE',
          compliance_framework: 'gdpr',
        },
      );
      const chosenAt = metadata instanceof Object ? Reflect.get(metadata, 'chosen_at') : undefined;
      visit.expect('metadata.chosen_at', Math.abs(Date.parse(String(chosenAt)) - visit.device.now()) < 60_000, true);
      visit.expect('state.choice.consent_token', visit.state.choice?.consent_token, visit.records[0]?.consent_token);
    },
  },
  {
    name: 'records a refusal as rejected, and as withdrawn if something was permitted before',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.rejectAll();
      await visit.acceptAll();
      await visit.nextStart();
      await visit.rejectAll();
      await visit.rejectAll();
      visit.expectDecisions('rejected', 'accepted', 'withdrawn', 'rejected');
    },
  },
  {
    name: 'records what was chosen without a network, in its order and once each',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.network('away');
      await visit.acceptAll();
      await visit.choose({ analytics: true });
      await visit.network('answered');
      await visit.resume();
      visit.expectDecisions('accepted', 'partial');
    },
  },
  {
    name: 'records at the next start what was chosen before the page or the app was closed',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.network('away');
      await visit.choose({ analytics: true });
      await visit.close();
      await visit.pass(3 * HOUR_MS);
      await visit.network('answered');
      await visit.start();
      visit.expectDecisions('partial');
      visit.expect('state.choice.consent_token', visit.state.choice?.consent_token, visit.records[0]?.consent_token);
    },
  },
  {
    name: 'records a choice once whose answer was lost, under one idempotency key and with one body',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.network('lost');
      await visit.acceptAll();
      await visit.pass(30_000);
      await visit.network('answered');
      await visit.resume();
      visit.expectDecisions('accepted');
      visit.expect('whether it was sent again', visit.posts.length > 1, true);
      visit.expect('different bodies', new Set(visit.posts.map(({ body }) => body)).size, 1);
      await visit.nextStart();
      visit.expectDecisions('accepted');
    },
  },
  {
    name: 'records a choice by itself after the service was busy',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.network('busy');
      await visit.acceptAll();
      visit.expectDecisions();
      visit.expectAllowed({ analytics: true });
      await visit.network('answered');
      await visit.pass(120_000);
      visit.expectDecisions('accepted');
    },
  },
  {
    name: 'ends a choice that the service refuses, and says why',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.network('refused');
      await visit.acceptAll();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      visit.expect('state.error.code', visit.state.error?.code, 'VALIDATION_ERROR');
      await visit.network('answered');
      await visit.nextStart();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expectDecisions();
    },
  },
  {
    name: 'permits nothing optional without a configuration, and says why',
    sites: ALL_LAWS,
    play: async (visit) => {
      visit.refuseKey();
      await visit.start();
      visit.expectStatus('unavailable');
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expect('state.error.code', visit.state.error?.code, 'INVALID_API_KEY');
    },
  },
  {
    name: 'records everything of one device under one reference, that neither another device nor the time gives away',
    sites: GDPR,
    play: async (visit) => {
      const from = visit.device.now();
      await visit.start();
      await visit.acceptAll();
      await visit.optOutOfSale();
      await visit.nextStart();
      await visit.rejectAll();
      const references = new Set(visit.records.map(({ visitor }) => visitor));
      visit.expect('different references in 3 records', [visit.records.length, references.size], [3, 1]);
      visit.expect('whether the reference has at least 16 characters', [...references].join().length >= 16, true);
      // At the same time as the first device, and later.
      for (const at of [from, from + HOUR_MS]) {
        await visit.nextDevice(at);
        await visit.acceptAll();
        references.add(visit.records.at(-1)?.visitor ?? '');
      }
      visit.expect('different references of 3 devices', [visit.records.length, references.size], [5, 3]);
      const shortest = Math.min(...[...references].map(({ length }) => length));
      visit.expect('whether each has at least 16 characters', shortest >= 16, true);
    },
  },
  {
    name: 'signs every request that records, each with a nonce of its own',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.network('lost');
      await visit.acceptAll();
      await visit.network('answered');
      await visit.resume();
      visit.expect('whether something was sent', visit.posts.length > 1, true);
      for (const { path, headers, body } of visit.posts) {
        const [timestamp, nonce] = [headers.get('X-Timestamp') ?? '', headers.get('X-Nonce') ?? ''];
        visit.expect('X-API-Key', headers.get('X-API-Key'), API_KEY);
        visit.expect('a time within 5 minutes', Math.abs(Number(timestamp) - visit.device.now() / 1000) < 300, true);
        const expected = await signatureOf({ path, timestamp, nonce, body, key: API_KEY });
        visit.expect('X-Signature', headers.get('X-Signature'), expected);
      }
      const nonces = visit.posts.map(({ headers }) => headers.get('X-Nonce'));
      visit.expect('nonces that were used before', nonces.length - new Set(nonces).size, 0);
    },
  },
];

function bodies(requests: readonly SeenRequest[]): readonly Record<string, unknown>[] {
  return requests.map(({ body }): Record<string, unknown> => JSON.parse(body));
}
