import { localeOf } from '../../../../schemas/language/language-tag.js';
import { matchLanguage } from '../../../../schemas/language/match-language.js';

/** Names of the texts that the banner needs beside those of the configuration. */
const NAMES = [
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
export type LabelName = (typeof NAMES)[number];

/** By language, in the order of `NAMES`. */
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

/** A text and its language, which differs from that of the banner where no translation is known. */
export interface Label {
  readonly text: string;
  readonly language: string;
}

/**
 * The text of a control: of the site's configuration, else of this file, else in English.
 * @param banner texts of the configuration by name
 * @param language of the configuration (BCP 47)
 */
export function labelOf(name: LabelName, banner: Readonly<Record<string, string>>, language: string): Label {
  const configured = banner[name];
  if (configured !== undefined && configured !== '') return { text: configured, language };
  const texts = LABELS[matchLanguage(Object.keys(LABELS), [language]) ?? '']?.split('|');
  const index = NAMES.indexOf(name);
  return texts === undefined
    ? { text: LABELS.en?.split('|')[index] ?? name, language: 'en' }
    : { text: texts[index] ?? name, language };
}

/** Scripts of living languages that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT = /Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Syrc|Thaa|Yezi/;

/** The direction in which a language is written. @param language BCP 47 */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.test(localeOf(language)?.maximize().script ?? '') ? 'rtl' : 'ltr';
}
