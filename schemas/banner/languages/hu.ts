import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Hungarian. */
export const labels: LabelTexts = {
  accept: 'Összes elfogadása',
  reject: 'Összes elutasítása',
  object: 'Tiltakozás',
  settings: 'Sütibeállítások',
  save: 'Választás mentése',
  always_on: 'Mindig aktív',
  cookies: 'Sütik',
  close: 'Bezárás',
  saved: 'A választását elmentettük.',
  language: 'Nyelv',
  proof: 'A rögzített választás megtekintése (új lap)',
  recipients: 'Címzettek',
  storage_period: 'Tárolási időtartam',
  until_closed: 'a böngésző bezárásáig',
  load_once: 'Egyszeri betöltés',
  allow_all: 'Összes engedélyezése: {0}',
  receives: 'Ha betölti ezt a tartalmat, a következő címzett kap adatokat: {0}',
  service_policy: 'Adatvédelmi tájékoztató (új lap)',
  allow: '{0} engedélyezése',
  opt_out: 'Tiltakozásának eleget tettünk',
  opt_out_conflict: 'A böngészője jelzése felváltja a korábbi választását. Újra választhat.',
  privacy_choices: 'Adatvédelmi választási lehetőségei',
  do_not_sell: 'Ne értékesítsék és ne osszák meg a személyes adataimat',
  allow_sale: 'Értékesítés és megosztás újbóli engedélyezése',
  opted_out: 'Ön letiltotta személyes adatainak értékesítését és megosztását.',
  opted_out_by_signal: 'Böngészőjének jelzése letiltotta személyes adatainak értékesítését és megosztását.',
  not_opted_out: 'Ön nem tiltotta le személyes adatainak értékesítését és megosztását.',
  account_scope: 'Ön be van jelentkezve. A választása a fiókjára vonatkozik, minden eszközön, amelyen bejelentkezik.',
  account_space: 'A csoport webhelyeire is vonatkozik',
  account_applies: 'Ezen az eszközön a fiókja választása érvényes. Bármikor módosíthatja.',
  account_differs:
    'Az ezen az eszközön és a fiókjában tett választás eltér. Amíg nem választ, csak az van bekapcsolva, amit mindkettő engedélyez.',
  this_device: 'Ez az eszköz',
  your_account: 'Az Ön fiókja',
  nothing_optional: 'semmi nem kötelező',
};

export const defaults: DefaultTexts = {
  title: 'Sütik használata',
  text: 'Sütiket és hasonló technológiákat használunk. Amelyekre a webhelynek szüksége van, mindig aktívak. A többit csak az Ön hozzájárulásával használjuk: elfogadhatja az összeset, elutasíthatja az összeset, vagy kategóriánként választhat.',
  withdrawal:
    'A hozzájárulását bármikor visszavonhatja, illetve a választását bármikor módosíthatja a sütibeállításokban.',
  categories: {
    necessary: { title: 'Szükséges', purpose: 'A webhely biztonságos működése és az Ön választásának megjegyzése.' },
    preferences: { title: 'Preferenciák', purpose: 'Az Ön beállításainak, például a nyelvnek a megjegyzése.' },
    analytics: { title: 'Statisztika', purpose: 'A webhely használatának mérése.' },
    marketing: { title: 'Hirdetések', purpose: 'Hirdetések kiválasztása az Ön érdeklődése szerint és hatásuk mérése.' },
  },
};
