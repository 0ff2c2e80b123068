import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Finnish. */
export const labels: LabelTexts = {
  accept: 'Hyväksy kaikki',
  reject: 'Hylkää kaikki',
  object: 'Vastusta',
  settings: 'Evästeasetukset',
  save: 'Tallenna valinta',
  always_on: 'Aina käytössä',
  cookies: 'Evästeet',
  close: 'Sulje',
  saved: 'Valintasi on tallennettu.',
  language: 'Kieli',
  proof: 'Näytä kirjattu valinta (uusi välilehti)',
  recipients: 'Vastaanottajat',
  storage_period: 'Säilytysaika',
  until_closed: 'kunnes selain suljetaan',
  load_once: 'Lataa kerran',
  allow_all: 'Salli kaikki: {0}',
  receives: 'Kun tämä sisältö ladataan, tietoja lähetetään vastaanottajalle {0}.',
  service_policy: 'Tietosuojaseloste (uusi välilehti)',
  allow: 'Salli: {0}',
  opt_out: 'Kieltäytymispyyntö on toteutettu',
  opt_out_conflict: 'Selaimesi signaali korvaa aiemman valintasi. Voit valita uudelleen.',
  privacy_choices: 'Yksityisyysvalintasi',
  do_not_sell: 'Älkää myykö tai jakako henkilötietojani',
  allow_sale: 'Salli myynti ja jakaminen uudelleen',
  opted_out: 'Olet kieltänyt henkilötietojesi myynnin ja jakamisen.',
  opted_out_by_signal: 'Selaimesi signaali on kieltänyt henkilötietojesi myynnin ja jakamisen.',
  not_opted_out: 'Et ole kieltänyt henkilötietojesi myyntiä ja jakamista.',
  account_scope: 'Olet kirjautunut sisään. Valintasi koskee tiliäsi jokaisella laitteella, jolla kirjaudut sisään.',
  account_space: 'Se koskee myös konsernin sivustoja',
  account_applies: 'Tilisi valinta on voimassa tällä laitteella. Voit muuttaa sitä milloin tahansa.',
  account_differs:
    'Tämän laitteen valinta ja tilisi valinta eroavat toisistaan. Kunnes valitset, käytössä on vain se, minkä molemmat sallivat.',
  this_device: 'Tämä laite',
  your_account: 'Tilisi',
  nothing_optional: 'ei mitään valinnaista',
};

export const defaults: DefaultTexts = {
  title: 'Evästeiden käyttö',
  text: 'Käytämme evästeitä ja vastaavia tekniikoita. Ne, joita tämä sivusto tarvitsee, ovat aina käytössä. Muita käytämme vain suostumuksellasi: voit hyväksyä kaikki, hylätä kaikki tai valita luokittain.',
  withdrawal: 'Voit milloin tahansa peruuttaa suostumuksesi tai muuttaa valintaasi evästeasetuksissa.',
  categories: {
    necessary: { title: 'Välttämättömät', purpose: 'Tämän sivuston turvallinen toiminta ja valintasi muistaminen.' },
    preferences: { title: 'Mieltymykset', purpose: 'Asetustesi, kuten kielen, muistaminen.' },
    analytics: { title: 'Tilastot', purpose: 'Tämän sivuston käytön mittaaminen.' },
    marketing: {
      title: 'Mainonta',
      purpose: 'Mainonnan valitseminen kiinnostuksen kohteidesi mukaan ja sen vaikutuksen mittaaminen.',
    },
  },
};
