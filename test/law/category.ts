import type { ConsentCategory } from '../../schemas/events/site-config.js';

/** An optional category called `stats`, which says nothing else. */
export const category = (members: Partial<ConsentCategory> = {}): ConsentCategory => ({
  key: 'stats',
  required: false,
  title: { en: 'Statistics' },
  purpose: { en: 'Counts' },
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
  ...members,
});
