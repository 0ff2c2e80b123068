import type { Request } from './export.js';
import { consentId } from './world.js';

/** Requests that an honest operator answers, by what they are for. */
export const REQUESTS: Readonly<Record<string, Request>> = {
  'the whole site': {},
  'a person': { person: 'alice' },
  'a person with an erased record': { person: 'carol' },
  'event ids': { eventIds: [consentId('alice 2'), consentId('bob 1')] },
  'the whole site, after keys were lost': { lostKeys: ['alice 2', 'bob 2'] },
  'a person, one of whose keys was lost': { person: 'alice', lostKeys: ['alice 2'] },
  'a time range': { from: '2026-03-02T08:00:00.000Z', to: '2026-03-02T08:10:00.000Z', disclose: ['visitor_id'] },
};
