import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Polish. */
export const labels: LabelTexts = {
  accept: 'Zaakceptuj wszystkie',
  reject: 'Odrzuć wszystkie',
  object: 'Wnieś sprzeciw',
  settings: 'Ustawienia plików cookie',
  save: 'Zapisz wybór',
  always_on: 'Zawsze włączone',
  cookies: 'Pliki cookie',
  close: 'Zamknij',
  saved: 'Wybór został zapisany.',
  language: 'Język',
  proof: 'Sprawdź zapisany wybór (nowa karta)',
  recipients: 'Odbiorcy',
  storage_period: 'Okres przechowywania',
  until_closed: 'do zamknięcia przeglądarki',
  load_once: 'Wczytaj raz',
  allow_all: 'Zezwól na wszystko: {0}',
  receives: 'Wczytanie tej treści powoduje wysłanie danych do odbiorcy: {0}',
  service_policy: 'Polityka prywatności (nowa karta)',
  allow: 'Zezwól: {0}',
  opt_out: 'Żądanie rezygnacji uwzględnione',
  opt_out_conflict: 'Sygnał przeglądarki zastępuje wcześniejszy wybór. Możesz wybrać ponownie.',
  privacy_choices: 'Twoje wybory dotyczące prywatności',
  do_not_sell: 'Nie sprzedawajcie ani nie udostępniajcie moich danych osobowych',
  allow_sale: 'Ponownie zezwól na sprzedaż i udostępnianie',
  opted_out: 'Sprzedaż i udostępnianie Twoich danych osobowych są wyłączone na Twoje żądanie.',
  opted_out_by_signal:
    'Sprzedaż i udostępnianie Twoich danych osobowych są wyłączone przez sygnał Twojej przeglądarki.',
  not_opted_out: 'Sprzedaż i udostępnianie Twoich danych osobowych nie są wyłączone.',
  account_scope: 'Zalogowano Cię na konto. Twój wybór dotyczy konta na każdym urządzeniu, na którym się zalogujesz.',
  account_space: 'Obowiązuje także w serwisach grupy',
  account_applies: 'Na tym urządzeniu obowiązuje wybór z Twojego konta. Możesz go zmienić w dowolnej chwili.',
  account_differs:
    'Wybory na tym urządzeniu i na Twoim koncie różnią się. Dopóki nie wybierzesz, włączone jest tylko to, na co pozwalają oba.',
  this_device: 'To urządzenie',
  your_account: 'Twoje konto',
  nothing_optional: 'nic opcjonalnego',
};

export const defaults: DefaultTexts = {
  title: 'Wykorzystywanie plików cookie',
  text: 'Korzystamy z plików cookie i podobnych technologii. Te, których ta witryna potrzebuje, są zawsze włączone. Z pozostałych korzystamy tylko za Twoją zgodą: możesz zaakceptować wszystkie, odrzucić wszystkie lub wybrać według kategorii.',
  withdrawal: 'W ustawieniach plików cookie możesz w dowolnym momencie wycofać zgodę lub zmienić swój wybór.',
  categories: {
    necessary: {
      title: 'Niezbędne',
      purpose: 'Zapewnienie bezpiecznego działania tej witryny i zapamiętanie Twojego wyboru.',
    },
    preferences: { title: 'Preferencje', purpose: 'Zapamiętanie Twoich ustawień, na przykład języka.' },
    analytics: { title: 'Statystyka', purpose: 'Mierzenie sposobu korzystania z tej witryny.' },
    marketing: { title: 'Reklama', purpose: 'Dobieranie reklam do Twoich zainteresowań i mierzenie ich skuteczności.' },
  },
};
