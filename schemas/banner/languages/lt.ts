import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Lithuanian. */
export const labels: LabelTexts = {
  accept: 'Priimti visus',
  reject: 'Atmesti visus',
  object: 'Nesutikti',
  settings: 'Slapukų nustatymai',
  save: 'Išsaugoti pasirinkimą',
  always_on: 'Visada įjungti',
  cookies: 'Slapukai',
  close: 'Uždaryti',
  saved: 'Jūsų pasirinkimas išsaugotas.',
  language: 'Kalba',
  proof: 'Peržiūrėti užregistruotą pasirinkimą (nauja kortelė)',
  recipients: 'Gavėjai',
  storage_period: 'Saugojimo laikotarpis',
  until_closed: 'kol bus uždaryta naršyklė',
  load_once: 'Įkelti vieną kartą',
  allow_all: 'Leisti viską: {0}',
  receives: 'Įkeliant šį turinį duomenys siunčiami gavėjui {0}.',
  service_policy: 'Privatumo politika (nauja kortelė)',
  allow: 'Leisti: {0}',
  opt_out: 'Prašymas atsisakyti įvykdytas',
  opt_out_conflict: 'Jūsų naršyklės signalas pakeičia ankstesnį jūsų pasirinkimą. Galite pasirinkti iš naujo.',
  privacy_choices: 'Jūsų privatumo pasirinkimai',
  do_not_sell: 'Neparduokite ir nebendrinkite mano asmeninės informacijos',
  allow_sale: 'Vėl leisti parduoti ir bendrinti',
  opted_out: 'Atsisakėte savo asmeninės informacijos pardavimo ir bendrinimo.',
  opted_out_by_signal: 'Jūsų naršyklės signalas atsisakė jūsų asmeninės informacijos pardavimo ir bendrinimo.',
  not_opted_out: 'Neatsisakėte savo asmeninės informacijos pardavimo ir bendrinimo.',
  account_scope:
    'Esate prisijungę. Jūsų pasirinkimas galioja jūsų paskyrai kiekviename įrenginyje, kuriame prisijungiate.',
  account_space: 'Jis taip pat galioja šios grupės svetainėse',
  account_applies: 'Šiame įrenginyje galioja jūsų paskyros pasirinkimas. Galite jį bet kada pakeisti.',
  account_differs:
    'Pasirinkimas šiame įrenginyje ir jūsų paskyroje skiriasi. Kol nepasirinksite, įjungta tik tai, ką leidžia abu.',
  this_device: 'Šis įrenginys',
  your_account: 'Jūsų paskyra',
  nothing_optional: 'nieko neprivalomo',
};

export const defaults: DefaultTexts = {
  title: 'Slapukų naudojimas',
  text: 'Naudojame slapukus ir panašias technologijas. Tie, kurių reikia šiai svetainei, visada įjungti. Kitus naudojame tik gavę jūsų sutikimą: galite priimti visus, atmesti visus arba pasirinkti pagal kategorijas.',
  withdrawal: 'Slapukų nustatymuose bet kada galite atšaukti sutikimą arba pakeisti pasirinkimą.',
  categories: {
    necessary: { title: 'Būtinieji', purpose: 'Kad ši svetainė saugiai veiktų ir įsimintų jūsų pasirinkimą.' },
    preferences: { title: 'Nuostatos', purpose: 'Kad būtų įsiminti jūsų nustatymai, pavyzdžiui, kalba.' },
    analytics: { title: 'Statistika', purpose: 'Kad būtų matuojama, kaip naudojamasi šia svetaine.' },
    marketing: {
      title: 'Reklama',
      purpose: 'Kad reklama būtų parenkama pagal jūsų pomėgius ir būtų matuojamas jos poveikis.',
    },
  },
};
