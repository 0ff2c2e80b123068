import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** German. */
export const labels: LabelTexts = {
  accept: 'Alle akzeptieren',
  reject: 'Alle ablehnen',
  object: 'Widersprechen',
  settings: 'Cookie-Einstellungen',
  save: 'Auswahl speichern',
  always_on: 'Immer aktiv',
  cookies: 'Cookies',
  close: 'Schließen',
  saved: 'Ihre Auswahl ist gespeichert.',
  language: 'Sprache',
  proof: 'Gespeicherte Auswahl nachschlagen (neuer Tab)',
  recipients: 'Empfänger',
  storage_period: 'Speicherdauer',
  until_closed: 'bis der Browser geschlossen wird',
  load_once: 'Einmal laden',
  allow_all: 'Alles erlauben: {0}',
  receives: 'Wenn dieser Inhalt geladen wird, erhält {0} Daten.',
  service_policy: 'Datenschutzerklärung (neuer Tab)',
  allow: '{0} erlauben',
  opt_out: 'Ihr Opt-out wird beachtet',
  opt_out_conflict: 'Das Signal Ihres Browsers ersetzt Ihre frühere Auswahl. Sie können neu wählen.',
  privacy_choices: 'Ihre Datenschutz-Wahlmöglichkeiten',
  do_not_sell: 'Meine personenbezogenen Daten nicht verkaufen oder weitergeben',
  allow_sale: 'Verkauf und Weitergabe wieder erlauben',
  opted_out: 'Sie haben dem Verkauf und der Weitergabe Ihrer personenbezogenen Daten widersprochen.',
  opted_out_by_signal:
    'Das Signal Ihres Browsers hat dem Verkauf und der Weitergabe Ihrer personenbezogenen Daten widersprochen.',
  not_opted_out: 'Sie haben dem Verkauf und der Weitergabe Ihrer personenbezogenen Daten nicht widersprochen.',
  account_scope: 'Sie sind angemeldet. Ihre Auswahl gilt für Ihr Konto, auf jedem Gerät, auf dem Sie sich anmelden.',
  account_space: 'Sie gilt auch auf den Websites der Gruppe',
  account_applies: 'Auf diesem Gerät gilt die Auswahl Ihres Kontos. Sie können sie jederzeit ändern.',
  account_differs:
    'Die Auswahl auf diesem Gerät und die in Ihrem Konto unterscheiden sich. Bis Sie wählen, ist nur aktiv, was beide erlauben.',
  this_device: 'Dieses Gerät',
  your_account: 'Ihr Konto',
  nothing_optional: 'nichts Optionales',
};

export const defaults: DefaultTexts = {
  title: 'Verwendung von Cookies',
  text: 'Wir verwenden Cookies und ähnliche Technologien. Diejenigen, die diese Website benötigt, sind immer aktiv. Andere verwenden wir nur mit Ihrer Einwilligung: Sie können alle akzeptieren, alle ablehnen oder nach Kategorien auswählen.',
  withdrawal: 'Sie können Ihre Einwilligung jederzeit in den Cookie-Einstellungen widerrufen oder Ihre Auswahl ändern.',
  categories: {
    necessary: { title: 'Notwendig', purpose: 'Damit diese Website sicher funktioniert und sich Ihre Auswahl merkt.' },
    preferences: { title: 'Präferenzen', purpose: 'Um sich Ihre Einstellungen zu merken, zum Beispiel die Sprache.' },
    analytics: { title: 'Statistik', purpose: 'Um zu messen, wie diese Website genutzt wird.' },
    marketing: {
      title: 'Werbung',
      purpose: 'Um Werbung nach Ihren Interessen auszuwählen und ihre Wirkung zu messen.',
    },
  },
};
