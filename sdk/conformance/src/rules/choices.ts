import { ALL_LAWS, GDPR, type Rule } from './rule.js';

const DAY_MS = 86_400_000;

/** What a choice permits, and for how long. */
export const CHOICES: readonly Rule[] = [
  {
    name: 'permits nothing optional before a choice, and asks',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false, unknown: false });
      visit.expectStatus('needed');
      visit.expect('state.choice', visit.state.choice, null);
    },
  },
  {
    name: 'permits nothing optional before the configuration arrives, and asks when it does',
    sites: ALL_LAWS,
    play: async (visit) => {
      visit.delay(5_000);
      await visit.start();
      visit.expectStatus('loading');
      visit.expectAllowed({ analytics: false, marketing: false, unknown: false });
      await visit.pass(30_000);
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false, unknown: false });
    },
  },
  {
    name: 'permits nothing optional at a first start without a network, says why, and asks when there is one',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.network('away');
      await visit.start();
      visit.expectStatus('unavailable');
      visit.expect('state.error.code', visit.state.error?.code, 'NO_ANSWER');
      visit.expectAllowed({ analytics: false, marketing: false, unknown: false });
      await visit.network('answered');
      await visit.resume();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false, unknown: false });
    },
  },
  {
    name: 'permits what was chosen at once, and nothing else',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.network('away');
      await visit.choose({ analytics: true });
      visit.expectAllowed({ necessary: true, analytics: true, marketing: false, unknown: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'keeps a choice for the next start, also without a network',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ marketing: true });
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: true });
      visit.expectStatus('chosen');
      await visit.network('away');
      await visit.pass(DAY_MS);
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: true });
    },
  },
  {
    name: 'keeps nothing permitted that was withdrawn',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.rejectAll();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'keeps nothing permitted that was withdrawn in part, also at later starts and without a network',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.choose({ analytics: true });
      const expected = { necessary: true, analytics: true, marketing: false };
      visit.expectAllowed(expected);
      await visit.nextStart();
      visit.expectAllowed(expected);
      visit.expectStatus('chosen');
      await visit.network('away');
      await visit.pass(DAY_MS);
      await visit.nextStart();
      visit.expectAllowed(expected);
    },
  },
  {
    name: 'keeps nothing permitted that was withdrawn while the configuration is read again',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.rejectAll();
      await visit.close();
      await visit.pass(DAY_MS);
      visit.delay(5_000);
      await visit.start();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.pass(30_000);
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'keeps nothing permitted that was withdrawn without a network',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.network('away');
      await visit.choose({ analytics: true });
      visit.expectAllowed({ analytics: true, marketing: false });
      await visit.rejectAll();
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.network('answered');
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expectDecisions('accepted', 'partial', 'withdrawn');
    },
  },
  {
    name: 'asks again after another version of the policy, and permits nothing optional meanwhile',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.publish({ version: 'v2' });
      await visit.nextStart();
      visit.expectStatus('needed');
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
    },
  },
  {
    name: 'asks again for an added category, and permits nothing optional meanwhile',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.publish({ added: ['chat'] });
      await visit.nextStart();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: false, chat: false });
    },
  },
  {
    name: 'asks those again who permitted the category of an added recipient; their choice counts meanwhile',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ marketing: true });
      await visit.publish({ recipients: ['Advertiser'] });
      await visit.nextStart();
      visit.expectStatus('needed');
      visit.expectAllowed({ analytics: false, marketing: true });
    },
  },
  {
    name: 'asks nobody again who refused the category of an added recipient',
    sites: GDPR,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ analytics: true });
      await visit.publish({ recipients: ['Advertiser'] });
      await visit.nextStart();
      visit.expectStatus('chosen');
      visit.expectAllowed({ analytics: true, marketing: false });
    },
  },
  {
    name: 'asks again after the days for which a choice is valid',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.close();
      await visit.pass(179 * DAY_MS);
      await visit.start();
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.close();
      await visit.pass(2 * DAY_MS);
      await visit.start();
      visit.expectStatus('needed');
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
    },
  },
];
