import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Slovak. */
export const labels: LabelTexts = {
  accept: 'Prijať všetko',
  reject: 'Odmietnuť všetko',
  object: 'Namietať',
  settings: 'Nastavenia cookies',
  save: 'Uložiť výber',
  always_on: 'Vždy aktívne',
  cookies: 'Cookies',
  close: 'Zavrieť',
  saved: 'Váš výber je uložený.',
  language: 'Jazyk',
  proof: 'Zobraziť zaznamenaný výber (nová karta)',
  recipients: 'Príjemcovia',
  storage_period: 'Doba uchovávania',
  until_closed: 'do zatvorenia prehliadača',
  load_once: 'Načítať raz',
  allow_all: 'Povoliť všetko: {0}',
  receives: 'Pri načítaní tohto obsahu sa odošlú údaje príjemcovi {0}.',
  service_policy: 'Zásady ochrany osobných údajov (nová karta)',
  allow: 'Povoliť: {0}',
  opt_out: 'Žiadosti o odmietnutie sa vyhovelo',
  opt_out_conflict: 'Signál vášho prehliadača nahrádza váš predchádzajúci výber. Môžete si vybrať znova.',
  privacy_choices: 'Vaše voľby ochrany súkromia',
  do_not_sell: 'Nepredávajte ani nezdieľajte moje osobné údaje',
  allow_sale: 'Znova povoliť predaj a zdieľanie',
  opted_out: 'Odmietli ste predaj a zdieľanie svojich osobných údajov.',
  opted_out_by_signal: 'Signál vášho prehliadača odmietol predaj a zdieľanie vašich osobných údajov.',
  not_opted_out: 'Predaj a zdieľanie svojich osobných údajov ste neodmietli.',
  account_scope: 'Ste prihlásení. Váš výber platí pre váš účet na každom zariadení, na ktorom sa prihlásite.',
  account_space: 'Platí aj na weboch skupiny',
  account_applies: 'Na tomto zariadení platí výber vášho účtu. Môžete ho kedykoľvek zmeniť.',
  account_differs:
    'Výber na tomto zariadení a výber vo vašom účte sa líšia. Kým si nevyberiete, je zapnuté len to, čo povoľujú oba.',
  this_device: 'Toto zariadenie',
  your_account: 'Váš účet',
  nothing_optional: 'nič voliteľné',
};

export const defaults: DefaultTexts = {
  title: 'Používanie cookies',
  text: 'Používame cookies a podobné technológie. Tie, ktoré tento web potrebuje, sú vždy aktívne. Ostatné používame len s vaším súhlasom: môžete prijať všetko, odmietnuť všetko alebo si vybrať podľa kategórií.',
  withdrawal: 'Svoj súhlas môžete kedykoľvek odvolať alebo svoj výber zmeniť v nastaveniach cookies.',
  categories: {
    necessary: { title: 'Nevyhnutné', purpose: 'Aby tento web bezpečne fungoval a zapamätal si váš výber.' },
    preferences: { title: 'Predvoľby', purpose: 'Aby sa zapamätali vaše nastavenia, napríklad jazyk.' },
    analytics: { title: 'Štatistika', purpose: 'Aby sa meralo, ako sa tento web používa.' },
    marketing: { title: 'Reklama', purpose: 'Aby sa reklama vyberala podľa vašich záujmov a meral sa jej účinok.' },
  },
};
