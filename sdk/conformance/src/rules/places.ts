import type { Site } from '../site.js';
import type { Rule } from './rule.js';

const DAY_MS = 86_400_000;
/** A place where everything optional runs until the visitor opts out. */
const OPT_OUT: readonly Site[] = [{ law: 'ccpa', rules: { analytics: 'opt_out', marketing: 'opt_out' } }];
/** A place where one category is exempt from consent, and another one waits. */
const EXEMPT: readonly Site[] = [{ law: 'uk_gdpr', rules: { analytics: 'exempt' } }];
const CONSENT_FIRST: Site = { law: 'gdpr', rules: {} };

/** What the rule that the site has for the visitor's place permits, and what ends it. */
export const PLACES: readonly Rule[] = [
  {
    name: 'runs and asks nothing where the rule of the place waits for an opt-out, which ends it',
    sites: OPT_OUT,
    play: async (visit) => {
      await visit.start();
      visit.expectStatus('unasked');
      visit.expectAllowed({ necessary: true, analytics: true, marketing: true });
      visit.expect('requests that record', visit.posts.length, 0);
      await visit.optOutOfSale();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expectStatus('unasked');
      await visit.optOutOfSale(false);
      visit.expectAllowed({ analytics: true, marketing: true });
      const seen = visit.records.map(({ type, decision }) => `${type} ${decision}`);
      visit.expect('records', seen, ['do_not_sell_opt_out accepted', 'do_not_sell_opt_out withdrawn']);
    },
  },
  {
    name: 'lets the signal end what runs by the rule of the place, and keeps it ended when the signal ends',
    sites: [...OPT_OUT, ...EXEMPT],
    play: async (visit) => {
      await visit.signal(true);
      await visit.start();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.signal(false);
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expect('records of the signal', visit.records.length, 1);
    },
  },
  {
    name: 'runs what is exempt from consent, asks for the rest, and keeps an objection until it is taken back',
    sites: EXEMPT,
    play: async (visit) => {
      await visit.start();
      visit.expectStatus('needed');
      visit.expectAllowed({ necessary: true, analytics: true, marketing: false });
      await visit.choose({ marketing: true });
      visit.expectAllowed({ analytics: false, marketing: true });
      await visit.nextStart();
      await visit.acceptAll();
      visit.expectAllowed({ analytics: false, marketing: true });
      await visit.choose({ analytics: true, marketing: true });
      visit.expectAllowed({ analytics: true, marketing: true });
      const seen = visit.records.flatMap(({ type, decision }) => (type === 'objection' ? decision : []));
      visit.expect('objections', seen, ['rejected', 'withdrawn']);
    },
  },
  {
    name: 'asks nothing where all is exempt from consent, records only an objection, and keeps that it was told',
    sites: [{ law: 'uk_gdpr', rules: { analytics: 'exempt', marketing: 'exempt' } }],
    play: async (visit) => {
      await visit.start();
      visit.expectStatus('unasked');
      await visit.acceptAll();
      visit.expectStatus('chosen');
      visit.expect('requests that record', visit.posts.length, 0);
      await visit.nextStart();
      visit.expectStatus('chosen');
      visit.expectAllowed({ analytics: true, marketing: true });
      await visit.rejectAll();
      visit.expectAllowed({ analytics: false, marketing: false });
      const seen = visit.records.map(({ type, decision }) => `${type} ${decision}`);
      visit.expect('records', seen, ['objection rejected']);
    },
  },
  {
    name: 'takes the refusal of everything for an objection as well, and consent to the rest for no consent to it',
    sites: EXEMPT,
    play: async (visit) => {
      await visit.start();
      await visit.rejectAll();
      visit.expectAllowed({ analytics: false, marketing: false });
      const answers = visit.posts.map(({ body }) => {
        const sent: Record<string, unknown> = JSON.parse(body);
        return [sent.consent_type, sent.categories, sent.rule_id];
      });
      visit.expect('what is sent', answers.sort(), [
        ['cookie', { necessary: true, marketing: false }, 'here'],
        ['objection', { analytics: false }, 'here'],
      ]);
    },
  },
  {
    name: 'ends what ran, and asks, where the visitor comes to a place that waits for consent',
    sites: [...OPT_OUT, ...EXEMPT],
    play: async (visit) => {
      await visit.start();
      visit.expectAllowed({ analytics: true });
      await visit.publish(CONSENT_FIRST);
      await visit.nextStart();
      visit.expectAllowed({ necessary: true, analytics: false, marketing: false });
      visit.expectStatus('needed');
    },
  },
  {
    name: 'permits nothing by the rule of a place that it read of long ago',
    sites: OPT_OUT,
    play: async (visit) => {
      await visit.start();
      await visit.pass(DAY_MS);
      await visit.close();
      await visit.network('away');
      await visit.start();
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'keeps a refusal in every place, and through the end of its period where no consent is asked',
    sites: OPT_OUT,
    play: async (visit) => {
      await visit.start();
      await visit.rejectAll();
      await visit.publish({ rules: { analytics: 'exempt' } });
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.publish({ rules: { analytics: 'opt_out', marketing: 'opt_out' } });
      await visit.pass(300 * DAY_MS);
      await visit.nextStart();
      visit.expectAllowed({ analytics: false, marketing: false });
    },
  },
  {
    name: 'asks again when the period of a choice is over, that of a refusal later, and permits nothing from then on',
    sites: [{ law: 'gdpr' }],
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.pass(180 * DAY_MS);
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectStatus('needed');
      await visit.rejectAll();
      await visit.pass(190 * DAY_MS);
      await visit.publish({ version: 'v2' });
      await visit.nextStart();
      visit.expectStatus('chosen');
      await visit.pass(10 * DAY_MS);
      await visit.nextStart();
      visit.expectStatus('needed');
    },
  },
];
