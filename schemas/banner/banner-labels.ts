import { matchLanguage } from '../language/match-language.js';

/** Controls of the banner. A site may state their texts in its configuration, under the same names. */
export const BANNER_CONTROLS = [
  'accept',
  'reject',
  'settings',
  'save',
  'always_on',
  'cookies',
  'close',
  'saved',
  'language',
  'proof',
] as const;

/** By language, in the order of `BANNER_CONTROLS`. */
const LABELS: Readonly<Record<string, string>> = {
  en: 'Accept all|Reject all|Cookie settings|Save choice|Always on|Cookies|Close|Your choice is saved.|Language|Proof',
  tr: 'Tümünü kabul et|Tümünü reddet|Çerez ayarları|Seçimi kaydet|Her zaman açık|Çerezler|Kapat|Seçiminiz kaydedildi.|Dil|Kanıt',
  de: 'Alle akzeptieren|Alle ablehnen|Cookie-Einstellungen|Auswahl speichern|Immer aktiv|Cookies|Schließen|Ihre Auswahl ist gespeichert.|Sprache|Nachweis',
  fr: 'Tout accepter|Tout refuser|Paramètres des cookies|Enregistrer le choix|Toujours actif|Cookies|Fermer|Votre choix est enregistré.|Langue|Preuve',
  es: 'Aceptar todo|Rechazar todo|Configuración de cookies|Guardar selección|Siempre activas|Cookies|Cerrar|Su selección está guardada.|Idioma|Prueba',
  it: 'Accetta tutto|Rifiuta tutto|Impostazioni dei cookie|Salva la scelta|Sempre attivi|Cookie|Chiudi|La scelta è salvata.|Lingua|Prova',
  pt: 'Aceitar tudo|Rejeitar tudo|Definições de cookies|Guardar escolha|Sempre ativos|Cookies|Fechar|A sua escolha foi guardada.|Idioma|Prova',
  nl: 'Alles accepteren|Alles weigeren|Cookie-instellingen|Keuze opslaan|Altijd aan|Cookies|Sluiten|Uw keuze is opgeslagen.|Taal|Bewijs',
  pl: 'Zaakceptuj wszystkie|Odrzuć wszystkie|Ustawienia plików cookie|Zapisz wybór|Zawsze włączone|Pliki cookie|Zamknij|Wybór został zapisany.|Język|Dowód',
  sv: 'Godkänn alla|Avvisa alla|Cookieinställningar|Spara val|Alltid på|Kakor|Stäng|Ditt val är sparat.|Språk|Bevis',
  ru: 'Принять все|Отклонить все|Настройки cookie|Сохранить выбор|Всегда включено|Файлы cookie|Закрыть|Ваш выбор сохранён.|Язык|Подтверждение',
  ar: 'قبول الكل|رفض الكل|إعدادات ملفات تعريف الارتباط|حفظ الاختيار|مفعّلة دائمًا|ملفات تعريف الارتباط|إغلاق|تم حفظ اختيارك.|اللغة|إثبات',
  he: 'אישור הכול|דחיית הכול|הגדרות קובצי Cookie|שמירת הבחירה|פעיל תמיד|קובצי Cookie|סגירה|הבחירה נשמרה.|שפה|הוכחה',
  fa: 'پذیرش همه|رد همه|تنظیمات کوکی|ذخیرهٔ انتخاب|همیشه فعال|کوکی‌ها|بستن|انتخاب شما ذخیره شد.|زبان|مدرک',
};

const LANGUAGES = Object.keys(LABELS);

/** The text of a control, and its language, which differs from that of the banner where no translation is known. */
export type BannerLabel = { readonly text: string; readonly language: string };

/**
 * The texts of the banner's controls: of the site's configuration, else of this file, else in English.
 * @param banner texts of the configuration by name
 * @param language of the configuration (BCP 47)
 */
export function bannerLabels(
  banner: Readonly<Record<string, string>>,
  language: string,
): Readonly<Record<string, BannerLabel>> {
  const known = LABELS[matchLanguage(LANGUAGES, [language]) ?? ''];
  const texts = (known ?? LABELS.en ?? '').split('|');
  const labelOf = (name: string, index: number): BannerLabel =>
    banner[name] ? { text: banner[name], language } : { text: texts[index] ?? name, language: known ? language : 'en' };
  return Object.fromEntries(BANNER_CONTROLS.map((name, index) => [name, labelOf(name, index)]));
}
