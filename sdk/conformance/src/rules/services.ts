import type { Site } from '../site.js';
import type { Rule } from './rule.js';

const SERVICES = { marketing: ['maps', 'films'] } as const;
const SWITCHED: readonly Site[] = [{ law: 'gdpr', services: SERVICES, hasSwitches: true }];
const UNSWITCHED: readonly Site[] = [{ law: 'gdpr', services: SERVICES }];
const DAY_MS = 86_400_000;

/** Services of a category, on sites with switches for them and without. */
export const SERVICE_RULES: readonly Rule[] = [
  {
    name: 'permits no service before a choice',
    sites: [...SWITCHED, ...UNSWITCHED],
    play: async (visit) => {
      await visit.start();
      visit.expectServices({ maps: false, films: false, unknown: false });
    },
  },
  {
    name: 'permits a service by its own switch, and a category only if all its services are',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ analytics: false, marketing: false }, { maps: true });
      visit.expectServices({ maps: true, films: false });
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.nextStart();
      visit.expectServices({ maps: true, films: false });
      visit.expectAllowed({ analytics: false, marketing: false });
      await visit.choose({}, { maps: true, films: true });
      visit.expectServices({ maps: true, films: true });
      visit.expectAllowed({ analytics: false, marketing: true });
    },
  },
  {
    name: 'gives a service without an answer of its own that of its category',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ marketing: true }, { films: false });
      visit.expectServices({ maps: true, films: false });
      visit.expectAllowed({ marketing: false });
      await visit.acceptAll();
      visit.expectServices({ maps: true, films: true });
      await visit.rejectAll();
      visit.expectServices({ maps: false, films: false });
    },
  },
  {
    name: 'keeps no service permitted that was switched off, also at the next start',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({}, { maps: true, films: true });
      await visit.choose({ analytics: true }, { maps: false, films: true });
      visit.expectServices({ maps: false, films: true });
      await visit.acceptAll();
      await visit.choose({ analytics: true }, { maps: false, films: true });
      visit.expectServices({ maps: false, films: true });
      visit.expectAllowed({ analytics: true, marketing: false });
      await visit.nextStart();
      visit.expectServices({ maps: false, films: true });
      visit.expectAllowed({ analytics: true, marketing: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'lets the signal end what a switch of a service permitted',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({}, { maps: true });
      await visit.signal(true);
      visit.expectServices({ maps: false, films: false });
      await visit.nextStart();
      visit.expectServices({ maps: false, films: false });
      await visit.signal(false);
      await visit.nextStart();
      visit.expectServices({ maps: false, films: false });
    },
  },
  {
    name: 'permits no service by its switch when the visitor is asked again by another version, or the choice has expired',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({}, { maps: true });
      await visit.publish({ version: 'v2' });
      await visit.nextStart();
      visit.expectServices({ maps: false, films: false });
      visit.expectStatus('needed');
      await visit.choose({}, { maps: true });
      visit.expectServices({ maps: true, films: false });
      await visit.close();
      await visit.pass(181 * DAY_MS);
      await visit.start();
      visit.expectServices({ maps: false, films: false });
      visit.expectStatus('needed');
    },
  },
  {
    name: 'permits no service by its switch if the service refuses the record',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.network('refused');
      await visit.choose({}, { maps: true });
      visit.expectServices({ maps: false, films: false });
      await visit.network('answered');
      await visit.nextStart();
      visit.expectServices({ maps: false, films: false });
    },
  },
  {
    name: 'records the answer for each service, and a category as permitted only with all its services',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ analytics: true }, { maps: true });
      const { categories, services } = visit.records.at(-1) ?? {};
      visit.expect('recorded categories', categories, { necessary: true, analytics: true, marketing: false });
      visit.expect('recorded services', services, { maps: true, films: false });
      visit.expectDecisions('partial');
    },
  },
  {
    name: 'never permits a service that the site does not have',
    sites: [...SWITCHED, ...UNSWITCHED],
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      visit.expectServices({ maps: true, unknown: false, marketing: false });
      await visit.publish({ services: { marketing: ['films'] } });
      await visit.nextStart();
      visit.expectServices({ maps: false, films: true });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'permits no service that was added since a choice with switches, and asks those who permitted its category',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.acceptAll();
      await visit.publish({ services: { marketing: ['maps', 'films', 'chat'] } });
      await visit.nextStart();
      visit.expectServices({ maps: true, films: true, chat: false });
      visit.expectStatus('needed');
      await visit.acceptAll();
      visit.expectServices({ maps: true, films: true, chat: true });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'asks nobody who refused its category for an added service',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ analytics: true });
      await visit.publish({ services: { marketing: ['maps', 'films', 'chat'] } });
      await visit.nextStart();
      visit.expectServices({ maps: false, films: false, chat: false });
      visit.expectStatus('chosen');
    },
  },
  {
    name: 'keeps the answer for a service that moved to another category, and asks those who permitted it',
    sites: SWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({}, { maps: true });
      await visit.publish({ services: { analytics: ['maps'], marketing: ['films'] } });
      await visit.nextStart();
      visit.expectServices({ maps: true, films: false });
      visit.expectAllowed({ analytics: false, marketing: false });
      visit.expectStatus('needed');
    },
  },
  {
    name: 'lets the category decide about its services on a site without switches, also about an added one',
    sites: UNSWITCHED,
    play: async (visit) => {
      await visit.start();
      await visit.choose({ marketing: true });
      visit.expectServices({ maps: true, films: true });
      await visit.publish({ services: { marketing: ['maps', 'films', 'chat'] } });
      await visit.nextStart();
      visit.expectServices({ maps: true, films: true, chat: true });
      visit.expectStatus('needed');
    },
  },
];
