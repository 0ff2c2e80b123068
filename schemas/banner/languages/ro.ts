import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Romanian. */
export const labels: LabelTexts = {
  accept: 'Acceptați toate',
  reject: 'Refuzați toate',
  object: 'Vă opuneți',
  settings: 'Setări pentru cookie-uri',
  save: 'Salvați alegerea',
  always_on: 'Întotdeauna active',
  cookies: 'Cookie-uri',
  close: 'Închideți',
  saved: 'Alegerea dumneavoastră a fost salvată.',
  language: 'Limbă',
  proof: 'Consultați alegerea înregistrată (filă nouă)',
  recipients: 'Destinatari',
  storage_period: 'Perioada de stocare',
  until_closed: 'până la închiderea browserului',
  load_once: 'Încărcați o dată',
  allow_all: 'Permiteți tot: {0}',
  receives: 'Încărcarea acestui conținut trimite date către {0}.',
  service_policy: 'Politica de confidențialitate (filă nouă)',
  allow: 'Permiteți: {0}',
  opt_out: 'Cererea de opoziție a fost respectată',
  opt_out_conflict: 'Semnalul browserului dumneavoastră înlocuiește alegerea anterioară. Puteți alege din nou.',
  privacy_choices: 'Opțiunile dumneavoastră de confidențialitate',
  do_not_sell: 'Nu vindeți și nu partajați informațiile mele personale',
  allow_sale: 'Permiteți din nou vânzarea și partajarea',
  opted_out: 'V-ați opus vânzării și partajării informațiilor dumneavoastră personale.',
  opted_out_by_signal:
    'Semnalul browserului dumneavoastră a transmis opoziția față de vânzarea și partajarea informațiilor dumneavoastră personale.',
  not_opted_out: 'Nu v-ați opus vânzării și partajării informațiilor dumneavoastră personale.',
  account_scope:
    'Sunteți conectat. Alegerea dumneavoastră se aplică contului, pe fiecare dispozitiv pe care vă conectați.',
  account_space: 'Se aplică și pe site-urile grupului',
  account_applies: 'Pe acest dispozitiv se aplică alegerea din contul dumneavoastră. O puteți schimba oricând.',
  account_differs:
    'Alegerea de pe acest dispozitiv și cea din contul dumneavoastră diferă. Până când alegeți, este activ numai ceea ce permit amândouă.',
  this_device: 'Acest dispozitiv',
  your_account: 'Contul dumneavoastră',
  nothing_optional: 'nimic opțional',
};

export const defaults: DefaultTexts = {
  title: 'Utilizarea cookie-urilor',
  text: 'Utilizăm cookie-uri și tehnologii similare. Cele de care acest site are nevoie sunt întotdeauna active. Pe celelalte le utilizăm numai cu consimțământul dumneavoastră: le puteți accepta pe toate, le puteți refuza pe toate sau puteți alege pe categorii.',
  withdrawal:
    'Vă puteți retrage consimțământul sau vă puteți modifica alegerea în orice moment, în setările pentru cookie-uri.',
  categories: {
    necessary: {
      title: 'Necesare',
      purpose: 'Pentru ca acest site să funcționeze în siguranță și să rețină alegerea dumneavoastră.',
    },
    preferences: { title: 'Preferințe', purpose: 'Pentru a reține setările dumneavoastră, de exemplu limba.' },
    analytics: { title: 'Statistici', purpose: 'Pentru a măsura modul în care este utilizat acest site.' },
    marketing: {
      title: 'Publicitate',
      purpose: 'Pentru a selecta publicitatea în funcție de interesele dumneavoastră și a-i măsura efectul.',
    },
  },
};
