import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Spanish. */
export const labels: LabelTexts = {
  accept: 'Aceptar todo',
  reject: 'Rechazar todo',
  object: 'Oponerse',
  settings: 'Configuración de cookies',
  save: 'Guardar selección',
  always_on: 'Siempre activas',
  cookies: 'Cookies',
  close: 'Cerrar',
  saved: 'Su selección está guardada.',
  language: 'Idioma',
  proof: 'Consultar la selección registrada (pestaña nueva)',
  recipients: 'Destinatarios',
  storage_period: 'Plazo de conservación',
  until_closed: 'hasta que se cierre el navegador',
  load_once: 'Cargar una vez',
  allow_all: 'Permitir todo: {0}',
  receives: 'Al cargar este contenido se envían datos a {0}.',
  service_policy: 'Política de privacidad (pestaña nueva)',
  allow: 'Permitir {0}',
  opt_out: 'Solicitud de exclusión atendida',
  opt_out_conflict: 'La señal de su navegador sustituye su selección anterior. Puede volver a elegir.',
  privacy_choices: 'Sus opciones de privacidad',
  do_not_sell: 'No vender ni compartir mi información personal',
  allow_sale: 'Volver a permitir la venta y el uso compartido',
  opted_out: 'Se ha opuesto a la venta y al uso compartido de su información personal.',
  opted_out_by_signal:
    'La señal de su navegador ha comunicado su oposición a la venta y al uso compartido de su información personal.',
  not_opted_out: 'No se ha opuesto a la venta ni al uso compartido de su información personal.',
  account_scope:
    'Ha iniciado sesión. Su selección se aplica a su cuenta, en todos los dispositivos en los que inicie sesión.',
  account_space: 'También se aplica en los sitios del grupo',
  account_applies: 'En este dispositivo se aplica la selección de su cuenta. Puede cambiarla en cualquier momento.',
  account_differs:
    'La selección de este dispositivo y la de su cuenta son distintas. Hasta que elija, solo está activo lo que ambas permiten.',
  this_device: 'Este dispositivo',
  your_account: 'Su cuenta',
  nothing_optional: 'nada opcional',
};

export const defaults: DefaultTexts = {
  title: 'Uso de cookies',
  text: 'Utilizamos cookies y tecnologías similares. Las que este sitio necesita están siempre activas. Las demás solo las utilizamos con su consentimiento: puede aceptar todo, rechazar todo o elegir por categorías.',
  withdrawal:
    'Puede retirar su consentimiento o cambiar su selección en cualquier momento en la configuración de cookies.',
  categories: {
    necessary: {
      title: 'Necesarias',
      purpose: 'Hacer que este sitio funcione de forma segura y recordar su selección.',
    },
    preferences: { title: 'Preferencias', purpose: 'Recordar sus ajustes, por ejemplo, el idioma.' },
    analytics: { title: 'Estadísticas', purpose: 'Medir cómo se utiliza este sitio.' },
    marketing: { title: 'Publicidad', purpose: 'Seleccionar la publicidad según sus intereses y medir su efecto.' },
  },
};
