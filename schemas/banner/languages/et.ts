import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Estonian. */
export const labels: LabelTexts = {
  accept: 'Nõustu kõigiga',
  reject: 'Keeldu kõigist',
  object: 'Esita vastuväide',
  settings: 'Küpsiste seaded',
  save: 'Salvesta valik',
  always_on: 'Alati sees',
  cookies: 'Küpsised',
  close: 'Sulge',
  saved: 'Teie valik on salvestatud.',
  language: 'Keel',
  proof: 'Vaata registreeritud valikut (uus vaheleht)',
  recipients: 'Vastuvõtjad',
  storage_period: 'Säilitamise aeg',
  until_closed: 'kuni brauseri sulgemiseni',
  load_once: 'Laadi üks kord',
  allow_all: 'Luba kõik: {0}',
  receives: 'Selle sisu laadimisel saadetakse andmeid vastuvõtjale {0}.',
  service_policy: 'Privaatsuspoliitika (uus vaheleht)',
  allow: 'Luba: {0}',
  opt_out: 'Loobumistaotlus on täidetud',
  opt_out_conflict: 'Teie brauseri signaal asendab teie varasema valiku. Saate uuesti valida.',
  privacy_choices: 'Teie privaatsusvalikud',
  do_not_sell: 'Ärge müüge ega jagage minu isikuandmeid',
  allow_sale: 'Luba müük ja jagamine uuesti',
  opted_out: 'Olete keeldunud oma isikuandmete müügist ja jagamisest.',
  opted_out_by_signal: 'Teie brauseri signaal on keeldunud teie isikuandmete müügist ja jagamisest.',
  not_opted_out: 'Te ei ole keeldunud oma isikuandmete müügist ja jagamisest.',
  account_scope: 'Olete sisse logitud. Teie valik kehtib teie kontol igas seadmes, kuhu sisse logite.',
  account_space: 'See kehtib ka kontserni saitidel',
  account_applies: 'Selles seadmes kehtib teie konto valik. Saate seda igal ajal muuta.',
  account_differs:
    'Selle seadme valik ja teie konto valik erinevad. Kuni te pole valinud, on sees ainult see, mida mõlemad lubavad.',
  this_device: 'See seade',
  your_account: 'Teie konto',
  nothing_optional: 'mitte midagi valikulist',
};

export const defaults: DefaultTexts = {
  title: 'Küpsiste kasutamine',
  text: 'Kasutame küpsiseid ja sarnaseid tehnoloogiaid. Need, mida see veebisait vajab, on alati sees. Muid kasutame ainult teie nõusolekul: saate kõigiga nõustuda, kõigist keelduda või valida kategooriate kaupa.',
  withdrawal: 'Saate oma nõusoleku igal ajal tagasi võtta või oma valikut muuta küpsiste seadetes.',
  categories: {
    necessary: { title: 'Vajalikud', purpose: 'Et see veebisait toimiks turvaliselt ja jätaks teie valiku meelde.' },
    preferences: { title: 'Eelistused', purpose: 'Et jätta meelde teie seaded, näiteks keel.' },
    analytics: { title: 'Statistika', purpose: 'Et mõõta, kuidas seda veebisaiti kasutatakse.' },
    marketing: { title: 'Reklaam', purpose: 'Et valida reklaami teie huvide järgi ja mõõta selle mõju.' },
  },
};
