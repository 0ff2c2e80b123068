import type { Site } from '../site.js';
import type { Visit } from '../visit.js';
import type { Rule } from './rule.js';

const SITES: readonly Site[] = [{ law: 'gdpr', hasAccounts: true }];
const PERSON = 'person-1';
const MINUTE_MS = 60_000;

/** A further device, on which nothing was chosen. */
const onward = (visit: Visit): Promise<void> => visit.nextDevice(Date.now() + MINUTE_MS);

/** What a person decides while signed in, on several devices. */
export const ACCOUNTS: readonly Rule[] = [
  {
    name: 'lets what a person permits while signed in count on each of their devices, and on none without them',
    sites: SITES,
    play: async (visit) => {
      await visit.start();
      await visit.signIn(PERSON);
      visit.expectStatus('needed');
      await visit.acceptAll();
      await onward(visit);
      visit.expectStatus('needed');
      await visit.signIn(PERSON);
      visit.expectStatus('chosen');
      visit.expectAllowed({ necessary: true, analytics: true, marketing: true });
      await visit.signOut();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'records what is decided while signed in as that of the person, each with a token of its own',
    sites: SITES,
    play: async (visit) => {
      await visit.start();
      await visit.signIn(PERSON);
      await visit.acceptAll();
      await visit.rejectAll();
      const bodies = visit.posts.map(({ body }) => JSON.parse(body));
      visit.expect(
        'visitors',
        bodies.map(({ visitor_id }) => visitor_id),
        [PERSON, PERSON],
      );
      visit.expect('tokens', new Set(bodies.map(({ person_token }) => person_token)).size, 2);
      visit.expect(
        'scopes',
        visit.records.map(({ scope }) => scope),
        ['account', 'account'],
      );
    },
  },
  {
    name: 'permits what both permit where the device and the account differ, and asks',
    sites: SITES,
    play: async (visit) => {
      await visit.start();
      await visit.signIn(PERSON);
      await visit.acceptAll();
      await onward(visit);
      await visit.choose({ analytics: true });
      await visit.signIn(PERSON);
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: true, marketing: false });
      await visit.acceptAll();
      visit.expectStatus('chosen');
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.signOut();
      visit.expectAllowed({ analytics: true, marketing: false });
    },
  },
  {
    name: 'gives no permission back on signing out that is older than a refusal',
    sites: SITES,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.signIn(PERSON);
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.rejectAll();
      await visit.signOut();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'lets an opt-out of a person hold on each of their devices',
    sites: [{ law: 'ccpa', hasAccounts: true, rules: { analytics: 'opt_out', marketing: 'opt_out' } }],
    play: async (visit) => {
      await visit.start();
      await visit.signIn(PERSON);
      await visit.optOutOfSale();
      await onward(visit);
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.signIn(PERSON);
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'permits nothing optional while the choice of the account cannot be read',
    sites: SITES,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.network('away');
      await visit.signIn(PERSON);
      await visit.pass(MINUTE_MS);
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.network('answered');
      await visit.resume();
      await visit.pass(MINUTE_MS);
      visit.expectAllowed({ analytics: true, marketing: true });
    },
  },
  {
    name: 'believes no choice of an account for which no backend vouches',
    sites: SITES,
    play: async (visit) => {
      visit.forge(PERSON);
      await visit.start();
      await visit.signIn(PERSON);
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
];
