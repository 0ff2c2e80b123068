import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Italian. */
export const labels: LabelTexts = {
  accept: 'Accetta tutto',
  reject: 'Rifiuta tutto',
  object: 'Opponiti',
  settings: 'Impostazioni dei cookie',
  save: 'Salva la scelta',
  always_on: 'Sempre attivi',
  cookies: 'Cookie',
  close: 'Chiudi',
  saved: 'La scelta è salvata.',
  language: 'Lingua',
  proof: 'Consulta la scelta registrata (nuova scheda)',
  recipients: 'Destinatari',
  storage_period: 'Periodo di conservazione',
  until_closed: 'fino alla chiusura del browser',
  load_once: 'Carica una volta',
  allow_all: 'Consenti tutto: {0}',
  receives: 'Caricando questo contenuto si inviano dati a {0}.',
  service_policy: 'Informativa sulla privacy (nuova scheda)',
  allow: 'Consenti {0}',
  opt_out: 'Richiesta di opposizione accolta',
  opt_out_conflict: 'Il segnale del browser sostituisce la scelta precedente. Può scegliere di nuovo.',
  privacy_choices: 'Le Sue scelte sulla privacy',
  do_not_sell: 'Non vendere né condividere le mie informazioni personali',
  allow_sale: 'Consentire di nuovo la vendita e la condivisione',
  opted_out: 'Lei si è opposto alla vendita e alla condivisione delle Sue informazioni personali.',
  opted_out_by_signal:
    'Il segnale del Suo browser ha comunicato la Sua opposizione alla vendita e alla condivisione delle Sue informazioni personali.',
  not_opted_out: 'Lei non si è opposto alla vendita e alla condivisione delle Sue informazioni personali.',
  account_scope:
    'Ha effettuato l’accesso. La Sua scelta vale per il Suo account, su ogni dispositivo su cui effettua l’accesso.',
  account_space: 'Vale anche sui siti del gruppo',
  account_applies: 'Su questo dispositivo vale la scelta del Suo account. Può modificarla in qualsiasi momento.',
  account_differs:
    'La scelta su questo dispositivo e quella del Suo account sono diverse. Finché non sceglie, è attivo solo ciò che entrambe consentono.',
  this_device: 'Questo dispositivo',
  your_account: 'Il Suo account',
  nothing_optional: 'nulla di facoltativo',
};

export const defaults: DefaultTexts = {
  title: 'Uso dei cookie',
  text: 'Utilizziamo cookie e tecnologie simili. Quelli di cui questo sito ha bisogno sono sempre attivi. Gli altri li utilizziamo solo con il Suo consenso: può accettare tutto, rifiutare tutto o scegliere per categoria.',
  withdrawal: 'Può revocare il consenso o modificare la scelta in qualsiasi momento nelle impostazioni dei cookie.',
  categories: {
    necessary: { title: 'Necessari', purpose: 'Far funzionare questo sito in sicurezza e ricordare la Sua scelta.' },
    preferences: { title: 'Preferenze', purpose: 'Ricordare le Sue impostazioni, per esempio la lingua.' },
    analytics: { title: 'Statistiche', purpose: 'Misurare come viene utilizzato questo sito.' },
    marketing: {
      title: 'Pubblicità',
      purpose: 'Selezionare la pubblicità in base ai Suoi interessi e misurarne l’effetto.',
    },
  },
};
