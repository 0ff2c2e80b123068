import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Portuguese. */
export const labels: LabelTexts = {
  accept: 'Aceitar tudo',
  reject: 'Rejeitar tudo',
  object: 'Opor-se',
  settings: 'Definições de cookies',
  save: 'Guardar escolha',
  always_on: 'Sempre ativos',
  cookies: 'Cookies',
  close: 'Fechar',
  saved: 'A sua escolha foi guardada.',
  language: 'Idioma',
  proof: 'Consultar a escolha registada (novo separador)',
  recipients: 'Destinatários',
  storage_period: 'Prazo de conservação',
  until_closed: 'até o navegador ser fechado',
  load_once: 'Carregar uma vez',
  allow_all: 'Permitir tudo: {0}',
  receives: 'Ao carregar este conteúdo, são enviados dados a {0}.',
  service_policy: 'Política de privacidade (novo separador)',
  allow: 'Permitir {0}',
  opt_out: 'Pedido de oposição respeitado',
  opt_out_conflict: 'O sinal do seu navegador substitui a escolha anterior. Pode escolher novamente.',
  privacy_choices: 'As suas escolhas de privacidade',
  do_not_sell: 'Não vender nem partilhar as minhas informações pessoais',
  allow_sale: 'Voltar a permitir a venda e a partilha',
  opted_out: 'Opôs-se à venda e à partilha das suas informações pessoais.',
  opted_out_by_signal:
    'O sinal do seu navegador comunicou a sua oposição à venda e à partilha das suas informações pessoais.',
  not_opted_out: 'Não se opôs à venda e à partilha das suas informações pessoais.',
  account_scope:
    'Tem sessão iniciada. A sua escolha aplica-se à sua conta, em todos os dispositivos em que inicie sessão.',
  account_space: 'Também se aplica nos sites do grupo',
  account_applies: 'A escolha da sua conta aplica-se neste dispositivo. Pode alterá-la em qualquer momento.',
  account_differs:
    'A escolha neste dispositivo e a da sua conta são diferentes. Até escolher, só está ativo o que ambas permitem.',
  this_device: 'Este dispositivo',
  your_account: 'A sua conta',
  nothing_optional: 'nada opcional',
};

export const defaults: DefaultTexts = {
  title: 'Utilização de cookies',
  text: 'Utilizamos cookies e tecnologias semelhantes. Aqueles de que este site necessita estão sempre ativos. Os outros só são utilizados com o seu consentimento: pode aceitar tudo, rejeitar tudo ou escolher por categoria.',
  withdrawal: 'Pode retirar o seu consentimento ou alterar a sua escolha a qualquer momento nas definições de cookies.',
  categories: {
    necessary: { title: 'Necessários', purpose: 'Fazer este site funcionar em segurança e memorizar a sua escolha.' },
    preferences: { title: 'Preferências', purpose: 'Memorizar as suas definições, por exemplo, o idioma.' },
    analytics: { title: 'Estatísticas', purpose: 'Medir a forma como este site é utilizado.' },
    marketing: {
      title: 'Publicidade',
      purpose: 'Selecionar a publicidade de acordo com os seus interesses e medir o seu efeito.',
    },
  },
};
