import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Slovenian. */
export const labels: LabelTexts = {
  accept: 'Sprejmi vse',
  reject: 'Zavrni vse',
  object: 'Ugovarjaj',
  settings: 'Nastavitve piškotkov',
  save: 'Shrani izbiro',
  always_on: 'Vedno vključeno',
  cookies: 'Piškotki',
  close: 'Zapri',
  saved: 'Vaša izbira je shranjena.',
  language: 'Jezik',
  proof: 'Ogled zabeležene izbire (nov zavihek)',
  recipients: 'Prejemniki',
  storage_period: 'Obdobje hrambe',
  until_closed: 'do zaprtja brskalnika',
  load_once: 'Naloži enkrat',
  allow_all: 'Dovoli vse: {0}',
  receives: 'Ob nalaganju te vsebine se podatki pošljejo prejemniku {0}.',
  service_policy: 'Pravilnik o zasebnosti (nov zavihek)',
  allow: 'Dovoli: {0}',
  opt_out: 'Zahteva za izključitev je upoštevana',
  opt_out_conflict: 'Signal vašega brskalnika nadomesti vašo prejšnjo izbiro. Izberete lahko znova.',
  privacy_choices: 'Vaše izbire glede zasebnosti',
  do_not_sell: 'Ne prodajajte in ne delite mojih osebnih podatkov',
  allow_sale: 'Znova dovoli prodajo in deljenje',
  opted_out: 'Zavrnili ste prodajo in deljenje svojih osebnih podatkov.',
  opted_out_by_signal: 'Signal vašega brskalnika je zavrnil prodajo in deljenje vaših osebnih podatkov.',
  not_opted_out: 'Prodaje in deljenja svojih osebnih podatkov niste zavrnili.',
  account_scope: 'Prijavljeni ste. Vaša izbira velja za vaš račun v vsaki napravi, v kateri se prijavite.',
  account_space: 'Velja tudi na spletnih mestih skupine',
  account_applies: 'V tej napravi velja izbira vašega računa. Kadar koli jo lahko spremenite.',
  account_differs:
    'Izbira v tej napravi in izbira v vašem računu se razlikujeta. Dokler ne izberete, je vklopljeno samo to, kar dovoljujeta obe.',
  this_device: 'Ta naprava',
  your_account: 'Vaš račun',
  nothing_optional: 'nič neobveznega',
};

export const defaults: DefaultTexts = {
  title: 'Uporaba piškotkov',
  text: 'Uporabljamo piškotke in podobne tehnologije. Tisti, ki jih to spletno mesto potrebuje, so vedno vključeni. Druge uporabljamo samo z vašo privolitvijo: lahko sprejmete vse, zavrnete vse ali izberete po kategorijah.',
  withdrawal: 'Privolitev lahko kadar koli prekličete ali svojo izbiro spremenite v nastavitvah piškotkov.',
  categories: {
    necessary: { title: 'Nujni', purpose: 'Da to spletno mesto varno deluje in si zapomni vašo izbiro.' },
    preferences: { title: 'Prednostne nastavitve', purpose: 'Da se zapomnijo vaše nastavitve, na primer jezik.' },
    analytics: { title: 'Statistika', purpose: 'Da se meri, kako se to spletno mesto uporablja.' },
    marketing: {
      title: 'Oglaševanje',
      purpose: 'Da se oglasi izbirajo glede na vaša zanimanja in se meri njihov učinek.',
    },
  },
};
