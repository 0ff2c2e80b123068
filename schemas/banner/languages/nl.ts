import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Dutch. */
export const labels: LabelTexts = {
  accept: 'Alles accepteren',
  reject: 'Alles weigeren',
  object: 'Bezwaar maken',
  settings: 'Cookie-instellingen',
  save: 'Keuze opslaan',
  always_on: 'Altijd aan',
  cookies: 'Cookies',
  close: 'Sluiten',
  saved: 'Uw keuze is opgeslagen.',
  language: 'Taal',
  proof: 'Vastgelegde keuze opzoeken (nieuw tabblad)',
  recipients: 'Ontvangers',
  storage_period: 'Bewaartermijn',
  until_closed: 'tot de browser wordt gesloten',
  load_once: 'Eén keer laden',
  allow_all: 'Alles toestaan: {0}',
  receives: 'Als u deze inhoud laadt, ontvangt {0} gegevens.',
  service_policy: 'Privacyverklaring (nieuw tabblad)',
  allow: '{0} toestaan',
  opt_out: 'Opt-outverzoek gehonoreerd',
  opt_out_conflict: 'Het signaal van uw browser vervangt uw eerdere keuze. U kunt opnieuw kiezen.',
  privacy_choices: 'Uw privacykeuzes',
  do_not_sell: 'Mijn persoonlijke gegevens niet verkopen of delen',
  allow_sale: 'Verkopen en delen weer toestaan',
  opted_out: 'U hebt zich afgemeld voor het verkopen en delen van uw persoonlijke gegevens.',
  opted_out_by_signal:
    'Het signaal van uw browser heeft u afgemeld voor het verkopen en delen van uw persoonlijke gegevens.',
  not_opted_out: 'U hebt zich niet afgemeld voor het verkopen en delen van uw persoonlijke gegevens.',
  account_scope: 'U bent ingelogd. Uw keuze geldt voor uw account, op elk apparaat waarop u inlogt.',
  account_space: 'Deze geldt ook op de websites van de groep',
  account_applies: 'Op dit apparaat geldt de keuze van uw account. U kunt die op elk moment wijzigen.',
  account_differs:
    'De keuze op dit apparaat en die in uw account verschillen. Totdat u kiest, staat alleen aan wat beide toestaan.',
  this_device: 'Dit apparaat',
  your_account: 'Uw account',
  nothing_optional: 'niets optioneels',
};

export const defaults: DefaultTexts = {
  title: 'Gebruik van cookies',
  text: 'Wij gebruiken cookies en vergelijkbare technieken. Cookies die deze site nodig heeft, staan altijd aan. Andere gebruiken wij alleen met uw toestemming: u kunt alles accepteren, alles weigeren of per categorie kiezen.',
  withdrawal: 'U kunt uw toestemming op elk moment intrekken of uw keuze wijzigen in de cookie-instellingen.',
  categories: {
    necessary: { title: 'Noodzakelijk', purpose: 'Deze site veilig laten werken en uw keuze onthouden.' },
    preferences: { title: 'Voorkeuren', purpose: 'Uw instellingen onthouden, zoals de taal.' },
    analytics: { title: 'Statistieken', purpose: 'Meten hoe deze site wordt gebruikt.' },
    marketing: {
      title: 'Advertenties',
      purpose: 'Advertenties kiezen op basis van uw interesses en het effect ervan meten.',
    },
  },
};
