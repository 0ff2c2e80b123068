import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Czech. */
export const labels: LabelTexts = {
  accept: 'Přijmout vše',
  reject: 'Odmítnout vše',
  object: 'Vznést námitku',
  settings: 'Nastavení cookies',
  save: 'Uložit výběr',
  always_on: 'Vždy aktivní',
  cookies: 'Cookies',
  close: 'Zavřít',
  saved: 'Váš výběr je uložen.',
  language: 'Jazyk',
  proof: 'Zobrazit zaznamenaný výběr (nová karta)',
  recipients: 'Příjemci',
  storage_period: 'Doba uložení',
  until_closed: 'do zavření prohlížeče',
  load_once: 'Načíst jednou',
  allow_all: 'Povolit vše: {0}',
  receives: 'Při načtení tohoto obsahu se odešlou údaje příjemci {0}.',
  service_policy: 'Zásady ochrany osobních údajů (nová karta)',
  allow: 'Povolit: {0}',
  opt_out: 'Žádosti o odmítnutí bylo vyhověno',
  opt_out_conflict: 'Signál vašeho prohlížeče nahrazuje váš dřívější výběr. Můžete si vybrat znovu.',
  privacy_choices: 'Vaše volby ochrany soukromí',
  do_not_sell: 'Neprodávejte ani nesdílejte mé osobní údaje',
  allow_sale: 'Znovu povolit prodej a sdílení',
  opted_out: 'Odmítli jste prodej a sdílení svých osobních údajů.',
  opted_out_by_signal: 'Signál vašeho prohlížeče odmítl prodej a sdílení vašich osobních údajů.',
  not_opted_out: 'Prodej a sdílení svých osobních údajů jste neodmítli.',
  account_scope: 'Jste přihlášeni. Váš výběr platí pro váš účet na každém zařízení, na kterém se přihlásíte.',
  account_space: 'Platí také na webech skupiny',
  account_applies: 'Na tomto zařízení platí výběr vašeho účtu. Můžete ho kdykoli změnit.',
  account_differs:
    'Výběr na tomto zařízení a výběr ve vašem účtu se liší. Dokud si nevyberete, je zapnuto jen to, co povolují oba.',
  this_device: 'Toto zařízení',
  your_account: 'Váš účet',
  nothing_optional: 'nic volitelného',
};

export const defaults: DefaultTexts = {
  title: 'Používání cookies',
  text: 'Používáme cookies a podobné technologie. Ty, které tento web potřebuje, jsou vždy aktivní. Ostatní používáme jen s vaším souhlasem: můžete přijmout vše, odmítnout vše nebo vybrat podle kategorií.',
  withdrawal: 'Svůj souhlas můžete kdykoli odvolat nebo svůj výběr změnit v nastavení cookies.',
  categories: {
    necessary: { title: 'Nezbytné', purpose: 'Aby tento web bezpečně fungoval a zapamatoval si váš výběr.' },
    preferences: { title: 'Předvolby', purpose: 'Aby se zapamatovala vaše nastavení, například jazyk.' },
    analytics: { title: 'Statistika', purpose: 'Aby se měřilo, jak se tento web používá.' },
    marketing: { title: 'Reklama', purpose: 'Aby se reklama vybírala podle vašich zájmů a měřil se její účinek.' },
  },
};
