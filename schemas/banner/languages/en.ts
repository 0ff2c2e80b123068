import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** English. */
export const labels: LabelTexts = {
  accept: 'Accept all',
  reject: 'Reject all',
  object: 'Object',
  settings: 'Cookie settings',
  save: 'Save choice',
  always_on: 'Always on',
  cookies: 'Cookies',
  close: 'Close',
  saved: 'Your choice is saved.',
  language: 'Language',
  proof: 'Look up the recorded choice (new tab)',
  recipients: 'Recipients',
  storage_period: 'Storage period',
  until_closed: 'until the browser is closed',
  load_once: 'Load once',
  allow_all: 'Allow all of {0}',
  receives: 'Loading this content sends data to {0}.',
  service_policy: 'Privacy policy (new tab)',
  allow: 'Allow {0}',
  opt_out: 'Opt-Out Request Honored',
  opt_out_conflict: 'Your browser’s signal replaces your earlier choice. You can choose again.',
  privacy_choices: 'Your Privacy Choices',
  do_not_sell: 'Do Not Sell or Share My Personal Information',
  allow_sale: 'Allow sale and sharing again',
  opted_out: 'You have opted out of the sale and sharing of your personal information.',
  opted_out_by_signal: 'Your browser’s signal has opted you out of the sale and sharing of your personal information.',
  not_opted_out: 'You have not opted out of the sale and sharing of your personal information.',
  account_scope: 'You are signed in. Your choice applies to your account, on every device on which you sign in.',
  account_space: 'It also applies on the sites of this group',
  account_applies: 'The choice of your account applies on this device. You can change it at any time.',
  account_differs:
    'The choices on this device and in your account differ. Until you choose, only what both permit is on.',
  this_device: 'This device',
  your_account: 'Your account',
  nothing_optional: 'nothing optional',
};

export const defaults: DefaultTexts = {
  title: 'Use of cookies',
  text: 'We use cookies and similar technologies. Those that this site needs are always on. We use others only with your consent: you can accept all, reject all or choose by category.',
  withdrawal: 'You can withdraw your consent or change your choice at any time in the cookie settings.',
  categories: {
    necessary: { title: 'Necessary', purpose: 'To make this site work securely and to remember your choice.' },
    preferences: { title: 'Preferences', purpose: 'To remember your settings, such as the language.' },
    analytics: { title: 'Statistics', purpose: 'To measure how this site is used.' },
    marketing: {
      title: 'Advertising',
      purpose: 'To select advertising according to your interests and to measure its effect.',
    },
  },
};
