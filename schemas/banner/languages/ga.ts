import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Irish. */
export const labels: LabelTexts = {
  accept: 'Glac le gach ceann',
  reject: 'Diúltaigh do gach ceann',
  object: 'Déan agóid',
  settings: 'Socruithe fianán',
  save: 'Sábháil an rogha',
  always_on: 'Ar siúl i gcónaí',
  cookies: 'Fianáin',
  close: 'Dún',
  saved: 'Tá do rogha sábháilte.',
  language: 'Teanga',
  proof: 'Féach ar an rogha thaifeadta (cluaisín nua)',
  recipients: 'Faighteoirí',
  storage_period: 'Tréimhse stórála',
  until_closed: 'go dtí go ndúntar an brabhsálaí',
  load_once: 'Lódáil uair amháin',
  allow_all: 'Ceadaigh gach ceann: {0}',
  receives: 'Nuair a lódáiltear an t-ábhar seo, seoltar sonraí chuig {0}.',
  service_policy: 'Polasaí príobháideachais (cluaisín nua)',
  allow: 'Ceadaigh: {0}',
  opt_out: 'Comhlíonadh an iarraidh ar dhiúltú',
  opt_out_conflict: 'Tagann comhartha do bhrabhsálaí in ionad do rogha roimhe seo. Is féidir leat roghnú arís.',
  privacy_choices: 'Do roghanna príobháideachais',
  do_not_sell: 'Ná díoltar agus ná comhroinntear mo chuid faisnéise pearsanta',
  allow_sale: 'Ceadaigh díol agus comhroinnt arís',
  opted_out: 'Dhiúltaigh tú do dhíol agus do chomhroinnt do chuid faisnéise pearsanta.',
  opted_out_by_signal: 'Dhiúltaigh comhartha do bhrabhsálaí do dhíol agus do chomhroinnt do chuid faisnéise pearsanta.',
  not_opted_out: 'Níor dhiúltaigh tú do dhíol agus do chomhroinnt do chuid faisnéise pearsanta.',
  account_scope: 'Tá tú sínithe isteach. Baineann do rogha le do chuntas, ar gach gléas ar a síníonn tú isteach.',
  account_space: 'Baineann sí freisin le suíomhanna an ghrúpa',
  account_applies: 'Tá rogha do chuntais i bhfeidhm ar an ngléas seo. Is féidir leat í a athrú am ar bith.',
  account_differs:
    'Tá difríocht idir an rogha ar an ngléas seo agus an rogha i do chuntas. Go dtí go roghnaíonn tú, níl ar siúl ach an méid a cheadaíonn an dá cheann.',
  this_device: 'An gléas seo',
  your_account: 'Do chuntas',
  nothing_optional: 'dada roghnach',
};

export const defaults: DefaultTexts = {
  title: 'Úsáid fianán',
  text: 'Úsáidimid fianáin agus teicneolaíochtaí comhchosúla. Bíonn na cinn a theastaíonn ón suíomh seo ar siúl i gcónaí. Ní úsáidimid cinn eile ach le do thoiliú: is féidir leat glacadh le gach ceann, diúltú do gach ceann nó roghnú de réir catagóire.',
  withdrawal: 'Is féidir leat do thoiliú a tharraingt siar nó do rogha a athrú am ar bith sna socruithe fianán.',
  categories: {
    necessary: {
      title: 'Riachtanach',
      purpose: 'Chun go n-oibreoidh an suíomh seo go slán agus chun cuimhneamh ar do rogha.',
    },
    preferences: { title: 'Sainroghanna', purpose: 'Chun cuimhneamh ar do shocruithe, amhail an teanga.' },
    analytics: { title: 'Staitisticí', purpose: 'Chun a thomhas conas a úsáidtear an suíomh seo.' },
    marketing: {
      title: 'Fógraíocht',
      purpose: 'Chun fógraíocht a roghnú de réir do chuid suimeanna agus chun a héifeacht a thomhas.',
    },
  },
};
