import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** French. */
export const labels: LabelTexts = {
  accept: 'Tout accepter',
  reject: 'Tout refuser',
  object: 'S’opposer',
  settings: 'Paramètres des cookies',
  save: 'Enregistrer le choix',
  always_on: 'Toujours actif',
  cookies: 'Cookies',
  close: 'Fermer',
  saved: 'Votre choix est enregistré.',
  language: 'Langue',
  proof: 'Consulter le choix enregistré (nouvel onglet)',
  recipients: 'Destinataires',
  storage_period: 'Durée de conservation',
  until_closed: 'jusqu’à la fermeture du navigateur',
  load_once: 'Charger une fois',
  allow_all: 'Tout autoriser : {0}',
  receives: 'Le chargement de ce contenu envoie des données à {0}.',
  service_policy: 'Politique de confidentialité (nouvel onglet)',
  allow: 'Autoriser {0}',
  opt_out: 'Demande d’opposition respectée',
  opt_out_conflict: 'Le signal de votre navigateur remplace votre choix précédent. Vous pouvez choisir à nouveau.',
  privacy_choices: 'Vos choix en matière de confidentialité',
  do_not_sell: 'Ne pas vendre ni partager mes informations personnelles',
  allow_sale: 'Autoriser de nouveau la vente et le partage',
  opted_out: 'Vous vous êtes opposé à la vente et au partage de vos informations personnelles.',
  opted_out_by_signal:
    'Le signal de votre navigateur a exprimé votre opposition à la vente et au partage de vos informations personnelles.',
  not_opted_out: 'Vous ne vous êtes pas opposé à la vente et au partage de vos informations personnelles.',
  account_scope:
    'Vous êtes connecté. Votre choix s’applique à votre compte, sur chaque appareil sur lequel vous vous connectez.',
  account_space: 'Il s’applique aussi sur les sites du groupe',
  account_applies: 'Le choix de votre compte s’applique sur cet appareil. Vous pouvez le modifier à tout moment.',
  account_differs:
    'Le choix sur cet appareil et celui de votre compte sont différents. Tant que vous n’avez pas choisi, seul ce que les deux autorisent est activé.',
  this_device: 'Cet appareil',
  your_account: 'Votre compte',
  nothing_optional: 'rien de facultatif',
};

export const defaults: DefaultTexts = {
  title: 'Utilisation de cookies',
  text: 'Nous utilisons des cookies et des technologies similaires. Ceux dont ce site a besoin sont toujours actifs. Nous n’utilisons les autres qu’avec votre consentement : vous pouvez tout accepter, tout refuser ou choisir par catégorie.',
  withdrawal:
    'Vous pouvez retirer votre consentement ou modifier votre choix à tout moment dans les paramètres des cookies.',
  categories: {
    necessary: {
      title: 'Nécessaires',
      purpose: 'Faire fonctionner ce site en toute sécurité et mémoriser votre choix.',
    },
    preferences: { title: 'Préférences', purpose: 'Mémoriser vos réglages, par exemple la langue.' },
    analytics: { title: 'Statistiques', purpose: 'Mesurer l’utilisation de ce site.' },
    marketing: {
      title: 'Publicité',
      purpose: 'Sélectionner la publicité selon vos centres d’intérêt et mesurer son effet.',
    },
  },
};
