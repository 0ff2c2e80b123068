import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Swedish. */
export const labels: LabelTexts = {
  accept: 'Godkänn alla',
  reject: 'Avvisa alla',
  object: 'Invänd',
  settings: 'Cookieinställningar',
  save: 'Spara val',
  always_on: 'Alltid på',
  cookies: 'Kakor',
  close: 'Stäng',
  saved: 'Ditt val är sparat.',
  language: 'Språk',
  proof: 'Visa det registrerade valet (ny flik)',
  recipients: 'Mottagare',
  storage_period: 'Lagringstid',
  until_closed: 'tills webbläsaren stängs',
  load_once: 'Ladda en gång',
  allow_all: 'Tillåt allt: {0}',
  receives: 'När innehållet laddas skickas data till {0}.',
  service_policy: 'Integritetspolicy (ny flik)',
  allow: 'Tillåt {0}',
  opt_out: 'Begäran om att avstå respekteras',
  opt_out_conflict: 'Webbläsarens signal ersätter ditt tidigare val. Du kan välja igen.',
  privacy_choices: 'Dina integritetsval',
  do_not_sell: 'Sälj eller dela inte mina personuppgifter',
  allow_sale: 'Tillåt försäljning och delning igen',
  opted_out: 'Du har avböjt försäljning och delning av dina personuppgifter.',
  opted_out_by_signal: 'Din webbläsares signal har avböjt försäljning och delning av dina personuppgifter.',
  not_opted_out: 'Du har inte avböjt försäljning och delning av dina personuppgifter.',
  account_scope: 'Du är inloggad. Ditt val gäller för ditt konto på alla enheter där du loggar in.',
  account_space: 'Det gäller även på gruppens webbplatser',
  account_applies: 'Valet från ditt konto gäller på den här enheten. Du kan ändra det när som helst.',
  account_differs:
    'Valen på den här enheten och i ditt konto skiljer sig åt. Tills du väljer är endast det som båda tillåter aktiverat.',
  this_device: 'Den här enheten',
  your_account: 'Ditt konto',
  nothing_optional: 'inget valfritt',
};

export const defaults: DefaultTexts = {
  title: 'Användning av kakor',
  text: 'Vi använder kakor och liknande teknik. De som den här webbplatsen behöver är alltid på. Andra använder vi bara med ditt samtycke: du kan godkänna alla, avvisa alla eller välja efter kategori.',
  withdrawal: 'Du kan när som helst återkalla ditt samtycke eller ändra ditt val i cookieinställningarna.',
  categories: {
    necessary: { title: 'Nödvändiga', purpose: 'Att få webbplatsen att fungera säkert och att komma ihåg ditt val.' },
    preferences: { title: 'Preferenser', purpose: 'Att komma ihåg dina inställningar, till exempel språket.' },
    analytics: { title: 'Statistik', purpose: 'Att mäta hur webbplatsen används.' },
    marketing: { title: 'Reklam', purpose: 'Att välja reklam efter dina intressen och att mäta dess effekt.' },
  },
};
