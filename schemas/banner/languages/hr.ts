import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Croatian. */
export const labels: LabelTexts = {
  accept: 'Prihvati sve',
  reject: 'Odbij sve',
  object: 'Uloži prigovor',
  settings: 'Postavke kolačića',
  save: 'Spremi odabir',
  always_on: 'Uvijek uključeno',
  cookies: 'Kolačići',
  close: 'Zatvori',
  saved: 'Vaš je odabir spremljen.',
  language: 'Jezik',
  proof: 'Pogledaj zabilježeni odabir (nova kartica)',
  recipients: 'Primatelji',
  storage_period: 'Razdoblje pohrane',
  until_closed: 'do zatvaranja preglednika',
  load_once: 'Učitaj jednom',
  allow_all: 'Dopusti sve: {0}',
  receives: 'Učitavanjem ovog sadržaja podaci se šalju primatelju {0}.',
  service_policy: 'Pravila o privatnosti (nova kartica)',
  allow: 'Dopusti: {0}',
  opt_out: 'Zahtjev za isključivanje je uvažen',
  opt_out_conflict: 'Signal vašeg preglednika zamjenjuje vaš raniji odabir. Možete odabrati ponovno.',
  privacy_choices: 'Vaši izbori privatnosti',
  do_not_sell: 'Nemojte prodavati ni dijeliti moje osobne podatke',
  allow_sale: 'Ponovno dopusti prodaju i dijeljenje',
  opted_out: 'Odbili ste prodaju i dijeljenje svojih osobnih podataka.',
  opted_out_by_signal: 'Signal vašeg preglednika odbio je prodaju i dijeljenje vaših osobnih podataka.',
  not_opted_out: 'Niste odbili prodaju i dijeljenje svojih osobnih podataka.',
  account_scope: 'Prijavljeni ste. Vaš odabir vrijedi za vaš račun, na svakom uređaju na kojem se prijavite.',
  account_space: 'Vrijedi i na web-mjestima grupe',
  account_applies: 'Na ovom uređaju vrijedi odabir vašeg računa. Možete ga promijeniti u bilo kojem trenutku.',
  account_differs:
    'Odabir na ovom uređaju i odabir u vašem računu razlikuju se. Dok ne odaberete, uključeno je samo ono što oba dopuštaju.',
  this_device: 'Ovaj uređaj',
  your_account: 'Vaš račun',
  nothing_optional: 'ništa neobavezno',
};

export const defaults: DefaultTexts = {
  title: 'Upotreba kolačića',
  text: 'Upotrebljavamo kolačiće i slične tehnologije. Oni koji su ovom web-mjestu potrebni uvijek su uključeni. Druge upotrebljavamo samo uz vašu privolu: možete prihvatiti sve, odbiti sve ili odabrati po kategorijama.',
  withdrawal: 'Privolu možete povući ili odabir promijeniti u bilo kojem trenutku u postavkama kolačića.',
  categories: {
    necessary: { title: 'Nužni', purpose: 'Da bi ovo web-mjesto sigurno radilo i zapamtilo vaš odabir.' },
    preferences: { title: 'Preferencije', purpose: 'Da bi se zapamtile vaše postavke, primjerice jezik.' },
    analytics: { title: 'Statistika', purpose: 'Da bi se mjerilo kako se ovo web-mjesto upotrebljava.' },
    marketing: {
      title: 'Oglašavanje',
      purpose: 'Da bi se oglasi birali prema vašim interesima i mjerio njihov učinak.',
    },
  },
};
