import { ALL_LAWS, CCPA, GDPR, type Rule } from './rule.js';

const DAY_MS = 86_400_000;

/** What the signal of the browser or of the device does (Global Privacy Control). */
export const SIGNALS: readonly Rule[] = [
  {
    name: 'asks nothing and permits nothing optional while the signal is on',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      visit.expectStatus('signalled');
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
    },
  },
  {
    name: 'lets the signal end at once what an earlier choice permitted',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.signal(true);
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      await visit.signal(false);
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'lets the signal end what was permitted also while the configuration is on its way, and without a network',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.close();
      await visit.pass(DAY_MS);
      await visit.signal(true);
      await visit.network('away');
      await visit.start();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.close();
      await visit.network('answered');
      visit.delay(5_000);
      await visit.start();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.pass(30_000);
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'records the signal as the withdrawal of what was permitted, where the law makes it no request',
    sites: [{ law: 'gdpr' }, {}],
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.signal(true);
      await visit.nextStart();
      await visit.nextStart();
      visit.expectDecisions('accepted', 'withdrawn');
    },
  },
  {
    name: 'records nothing for the signal of someone who permitted nothing, where the law makes it no request',
    sites: [{ law: 'gdpr' }, {}],
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      visit.expect('requests that record', visit.posts.length, 0);
    },
  },
  {
    name: 'records the signal once as an opt-out of sale, where the law makes it a request',
    sites: CCPA,
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      await visit.nextStart();
      const seen = visit.records.map(({ type, decision }) => ({ type, decision }));
      visit.expect('records', seen, [{ type: 'do_not_sell_opt_out', decision: 'accepted' }]);
    },
  },
  {
    name: 'lets a choice count that the visitor makes while the signal is on, since it is the later one',
    sites: ALL_LAWS,
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      await visit.choose({ analytics: true });
      visit.expectAllowed({ analytics: true, marketing: false });
      await visit.nextStart();
      visit.expectAllowed({ analytics: true, marketing: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'lets a signal that comes again end what was chosen while it was on before',
    sites: GDPR,
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      await visit.acceptAll();
      await visit.signal(false);
      await visit.nextStart();
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.signal(true);
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
];
