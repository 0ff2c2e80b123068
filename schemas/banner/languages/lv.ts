import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Latvian. */
export const labels: LabelTexts = {
  accept: 'Pieņemt visas',
  reject: 'Noraidīt visas',
  object: 'Iebilst',
  settings: 'Sīkdatņu iestatījumi',
  save: 'Saglabāt izvēli',
  always_on: 'Vienmēr ieslēgtas',
  cookies: 'Sīkdatnes',
  close: 'Aizvērt',
  saved: 'Jūsu izvēle ir saglabāta.',
  language: 'Valoda',
  proof: 'Skatīt reģistrēto izvēli (jauna cilne)',
  recipients: 'Saņēmēji',
  storage_period: 'Glabāšanas laikposms',
  until_closed: 'līdz pārlūka aizvēršanai',
  load_once: 'Ielādēt vienreiz',
  allow_all: 'Atļaut visu: {0}',
  receives: 'Ielādējot šo saturu, dati tiek nosūtīti saņēmējam {0}.',
  service_policy: 'Privātuma politika (jauna cilne)',
  allow: 'Atļaut: {0}',
  opt_out: 'Atteikšanās pieprasījums ir izpildīts',
  opt_out_conflict: 'Jūsu pārlūka signāls aizstāj jūsu iepriekšējo izvēli. Varat izvēlēties vēlreiz.',
  privacy_choices: 'Jūsu privātuma izvēles',
  do_not_sell: 'Nepārdot un nekopīgot manu personisko informāciju',
  allow_sale: 'Atkal atļaut pārdošanu un kopīgošanu',
  opted_out: 'Jūs esat atteicies no savas personiskās informācijas pārdošanas un kopīgošanas.',
  opted_out_by_signal:
    'Jūsu pārlūkprogrammas signāls ir atteicies no jūsu personiskās informācijas pārdošanas un kopīgošanas.',
  not_opted_out: 'Jūs neesat atteicies no savas personiskās informācijas pārdošanas un kopīgošanas.',
  account_scope: 'Jūs esat pierakstījies. Jūsu izvēle attiecas uz jūsu kontu katrā ierīcē, kurā pierakstāties.',
  account_space: 'Tā attiecas arī uz šīs grupas vietnēm',
  account_applies: 'Šajā ierīcē ir spēkā jūsu konta izvēle. Varat to mainīt jebkurā laikā.',
  account_differs:
    'Izvēle šajā ierīcē un izvēle jūsu kontā atšķiras. Kamēr neesat izvēlējies, ieslēgts ir tikai tas, ko atļauj abas.',
  this_device: 'Šī ierīce',
  your_account: 'Jūsu konts',
  nothing_optional: 'nekas neobligāts',
};

export const defaults: DefaultTexts = {
  title: 'Sīkdatņu izmantošana',
  text: 'Mēs izmantojam sīkdatnes un līdzīgas tehnoloģijas. Tās, kas šai vietnei ir nepieciešamas, vienmēr ir ieslēgtas. Citas izmantojam tikai ar jūsu piekrišanu: varat pieņemt visas, noraidīt visas vai izvēlēties pēc kategorijas.',
  withdrawal: 'Sīkdatņu iestatījumos jebkurā laikā varat atsaukt savu piekrišanu vai mainīt savu izvēli.',
  categories: {
    necessary: { title: 'Nepieciešamās', purpose: 'Lai šī vietne darbotos droši un atcerētos jūsu izvēli.' },
    preferences: { title: 'Lietotāja iestatījumi', purpose: 'Lai atcerētos jūsu iestatījumus, piemēram, valodu.' },
    analytics: { title: 'Statistika', purpose: 'Lai mērītu, kā šī vietne tiek izmantota.' },
    marketing: { title: 'Reklāma', purpose: 'Lai atlasītu reklāmas atbilstoši jūsu interesēm un mērītu to ietekmi.' },
  },
};
