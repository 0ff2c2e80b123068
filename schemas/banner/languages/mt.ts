import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Maltese. */
export const labels: LabelTexts = {
  accept: 'Aċċetta kollox',
  reject: 'Irrifjuta kollox',
  object: 'Oġġezzjona',
  settings: 'Konfigurazzjoni tal-cookies',
  save: 'Issejvja l-għażla',
  always_on: 'Dejjem attivi',
  cookies: 'Cookies',
  close: 'Agħlaq',
  saved: 'L-għażla tiegħek ġiet issejvjata.',
  language: 'Lingwa',
  proof: 'Ara l-għażla rreġistrata (tab ġdida)',
  recipients: 'Riċevituri',
  storage_period: 'Perjodu tal-ħżin',
  until_closed: 'sakemm jingħalaq il-browser',
  load_once: 'Għabbi darba',
  allow_all: 'Ippermetti kollox: {0}',
  receives: 'It-tagħbija ta’ dan il-kontenut tibgħat data lil {0}.',
  service_policy: 'Politika tal-privatezza (tab ġdida)',
  allow: 'Ippermetti: {0}',
  opt_out: 'It-talba għall-esklużjoni ġiet rispettata',
  opt_out_conflict: 'Is-sinjal tal-browser tiegħek jieħu post l-għażla preċedenti tiegħek. Tista’ terġa’ tagħżel.',
  privacy_choices: 'L-għażliet tiegħek dwar il-privatezza',
  do_not_sell: 'Tbigħux u taqsmux l-informazzjoni personali tiegħi',
  allow_sale: 'Erġa’ ħalli l-bejgħ u l-qsim',
  opted_out: 'Inti oġġezzjonajt għall-bejgħ u l-qsim tal-informazzjoni personali tiegħek.',
  opted_out_by_signal:
    'Is-sinjal tal-browser tiegħek oġġezzjona għall-bejgħ u l-qsim tal-informazzjoni personali tiegħek.',
  not_opted_out: 'Inti ma oġġezzjonajtx għall-bejgħ u l-qsim tal-informazzjoni personali tiegħek.',
  account_scope:
    'Inti dħalt fil-kont tiegħek. L-għażla tiegħek tapplika għall-kont tiegħek, fuq kull apparat li tidħol fih.',
  account_space: 'Tapplika wkoll fis-siti tal-grupp',
  account_applies: 'L-għażla tal-kont tiegħek tapplika fuq dan l-apparat. Tista’ tibdilha fi kwalunkwe ħin.',
  account_differs:
    'L-għażla fuq dan l-apparat u dik fil-kont tiegħek huma differenti. Sakemm tagħżel, jinxtegħel biss dak li jippermettu t-tnejn.',
  this_device: 'Dan l-apparat',
  your_account: 'Il-kont tiegħek',
  nothing_optional: 'xejn mhux obbligatorju',
};

export const defaults: DefaultTexts = {
  title: 'L-użu tal-cookies',
  text: 'Nużaw cookies u teknoloġiji simili. Dawk li dan is-sit jeħtieġ huma dejjem attivi. Oħrajn nużawhom biss bil-kunsens tiegħek: tista’ taċċetta kollox, tirrifjuta kollox jew tagħżel skont il-kategorija.',
  withdrawal:
    'Tista’ tirtira l-kunsens tiegħek jew tibdel l-għażla tiegħek fi kwalunkwe ħin fil-konfigurazzjoni tal-cookies.',
  categories: {
    necessary: { title: 'Meħtieġa', purpose: 'Biex dan is-sit jaħdem b’mod sigur u jiftakar l-għażla tiegħek.' },
    preferences: { title: 'Preferenzi', purpose: 'Biex tinżamm il-konfigurazzjoni tiegħek, bħal-lingwa.' },
    analytics: { title: 'Statistika', purpose: 'Biex jitkejjel kif jintuża dan is-sit.' },
    marketing: {
      title: 'Reklamar',
      purpose: 'Biex jintgħażlu reklami skont l-interessi tiegħek u jitkejjel l-effett tagħhom.',
    },
  },
};
