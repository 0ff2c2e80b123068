import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Danish. */
export const labels: LabelTexts = {
  accept: 'Accepter alle',
  reject: 'Afvis alle',
  object: 'Gør indsigelse',
  settings: 'Cookieindstillinger',
  save: 'Gem valg',
  always_on: 'Altid aktive',
  cookies: 'Cookies',
  close: 'Luk',
  saved: 'Dit valg er gemt.',
  language: 'Sprog',
  proof: 'Se det registrerede valg (ny fane)',
  recipients: 'Modtagere',
  storage_period: 'Opbevaringsperiode',
  until_closed: 'indtil browseren lukkes',
  load_once: 'Indlæs én gang',
  allow_all: 'Tillad alt: {0}',
  receives: 'Når dette indhold indlæses, sendes der data til {0}.',
  service_policy: 'Privatlivspolitik (ny fane)',
  allow: 'Tillad {0}',
  opt_out: 'Anmodning om fravalg er imødekommet',
  opt_out_conflict: 'Signalet fra din browser erstatter dit tidligere valg. Du kan vælge igen.',
  privacy_choices: 'Dine valg om privatliv',
  do_not_sell: 'Sælg eller del ikke mine personoplysninger',
  allow_sale: 'Tillad salg og deling igen',
  opted_out: 'Du har fravalgt salg og deling af dine personoplysninger.',
  opted_out_by_signal: 'Din browsers signal har fravalgt salg og deling af dine personoplysninger.',
  not_opted_out: 'Du har ikke fravalgt salg og deling af dine personoplysninger.',
  account_scope: 'Du er logget ind. Dit valg gælder for din konto på alle enheder, hvor du logger ind.',
  account_space: 'Det gælder også på koncernens websteder',
  account_applies: 'Valget fra din konto gælder på denne enhed. Du kan ændre det når som helst.',
  account_differs:
    'Valgene på denne enhed og i din konto er forskellige. Indtil du vælger, er kun det slået til, som begge tillader.',
  this_device: 'Denne enhed',
  your_account: 'Din konto',
  nothing_optional: 'intet valgfrit',
};

export const defaults: DefaultTexts = {
  title: 'Brug af cookies',
  text: 'Vi bruger cookies og lignende teknologier. Dem, som dette websted har brug for, er altid aktive. Andre bruger vi kun med dit samtykke: Du kan acceptere alle, afvise alle eller vælge efter kategori.',
  withdrawal: 'Du kan når som helst trække dit samtykke tilbage eller ændre dit valg i cookieindstillingerne.',
  categories: {
    necessary: { title: 'Nødvendige', purpose: 'At få dette websted til at fungere sikkert og at huske dit valg.' },
    preferences: { title: 'Præferencer', purpose: 'At huske dine indstillinger, f.eks. sproget.' },
    analytics: { title: 'Statistik', purpose: 'At måle, hvordan dette websted bruges.' },
    marketing: { title: 'Annoncering', purpose: 'At udvælge annoncer efter dine interesser og at måle deres effekt.' },
  },
};
