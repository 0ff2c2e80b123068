import { matchLanguage } from '../language/match-language.js';

/**
 * Controls and captions of the banner, and of the placeholder of embedded content. A site may state their texts in its
 * configuration, under the same names. In `allow_all` and `allow`, `{0}` stands for what is permitted; in `receives`, for who gets
 * the data.
 */
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
  'recipients',
  'storage_period',
  'until_closed',
  'load_once',
  'allow_all',
  'receives',
  'service_policy',
  'allow',
] as const;

/**
 * Notices of the banner, whose words a site cannot change: that a signal of the browser was processed as an opt-out
 * (CCPA regulations, §7025(c)(6)), and that it ended what an earlier choice permitted (§7025(c)(3)).
 */
export const BANNER_NOTICES = ['opt_out', 'opt_out_conflict'] as const;

/**
 * Texts by language, in the order of `BANNER_CONTROLS` and `BANNER_NOTICES`. Whoever changes the words of a notice must
 * increase `NOTICE_VERSION`.
 */
const LABELS: Readonly<Record<string, string>> = {
  en: 'Accept all|Reject all|Cookie settings|Save choice|Always on|Cookies|Close|Your choice is saved.|Language|Look up the recorded choice (new tab)|Recipients|Storage period|until the browser is closed|Load once|Allow all of {0}|Loading this content sends data to {0}.|Privacy policy (new tab)|Allow {0}|Opt-Out Request Honored|Your browser’s signal replaces your earlier choice. You can choose again.',
  tr: 'Tümünü kabul et|Tümünü reddet|Çerez ayarları|Seçimi kaydet|Her zaman açık|Çerezler|Kapat|Seçiminiz kaydedildi.|Dil|Kaydedilen seçimi görüntüle (yeni sekme)|Alıcılar|Saklama süresi|tarayıcı kapatılana kadar|Bir kez yükle|Tümüne izin ver: {0}|Bu içerik yüklenirse veriler şu alıcıya gönderilir: {0}|Gizlilik politikası (yeni sekme)|İzin ver: {0}|Vazgeçme talebiniz yerine getirildi|Tarayıcınızın sinyali önceki seçiminizin yerine geçer. Yeniden seçebilirsiniz.',
  de: 'Alle akzeptieren|Alle ablehnen|Cookie-Einstellungen|Auswahl speichern|Immer aktiv|Cookies|Schließen|Ihre Auswahl ist gespeichert.|Sprache|Gespeicherte Auswahl nachschlagen (neuer Tab)|Empfänger|Speicherdauer|bis der Browser geschlossen wird|Einmal laden|Alles erlauben: {0}|Wenn dieser Inhalt geladen wird, erhält {0} Daten.|Datenschutzerklärung (neuer Tab)|{0} erlauben|Ihr Opt-out wird beachtet|Das Signal Ihres Browsers ersetzt Ihre frühere Auswahl. Sie können neu wählen.',
  fr: 'Tout accepter|Tout refuser|Paramètres des cookies|Enregistrer le choix|Toujours actif|Cookies|Fermer|Votre choix est enregistré.|Langue|Consulter le choix enregistré (nouvel onglet)|Destinataires|Durée de conservation|jusqu’à la fermeture du navigateur|Charger une fois|Tout autoriser : {0}|Le chargement de ce contenu envoie des données à {0}.|Politique de confidentialité (nouvel onglet)|Autoriser {0}|Demande d’opposition respectée|Le signal de votre navigateur remplace votre choix précédent. Vous pouvez choisir à nouveau.',
  es: 'Aceptar todo|Rechazar todo|Configuración de cookies|Guardar selección|Siempre activas|Cookies|Cerrar|Su selección está guardada.|Idioma|Consultar la selección registrada (pestaña nueva)|Destinatarios|Plazo de conservación|hasta que se cierre el navegador|Cargar una vez|Permitir todo: {0}|Al cargar este contenido se envían datos a {0}.|Política de privacidad (pestaña nueva)|Permitir {0}|Solicitud de exclusión atendida|La señal de su navegador sustituye su selección anterior. Puede volver a elegir.',
  it: 'Accetta tutto|Rifiuta tutto|Impostazioni dei cookie|Salva la scelta|Sempre attivi|Cookie|Chiudi|La scelta è salvata.|Lingua|Consulta la scelta registrata (nuova scheda)|Destinatari|Periodo di conservazione|fino alla chiusura del browser|Carica una volta|Consenti tutto: {0}|Caricando questo contenuto si inviano dati a {0}.|Informativa sulla privacy (nuova scheda)|Consenti {0}|Richiesta di opposizione accolta|Il segnale del browser sostituisce la scelta precedente. Può scegliere di nuovo.',
  pt: 'Aceitar tudo|Rejeitar tudo|Definições de cookies|Guardar escolha|Sempre ativos|Cookies|Fechar|A sua escolha foi guardada.|Idioma|Consultar a escolha registada (novo separador)|Destinatários|Prazo de conservação|até o navegador ser fechado|Carregar uma vez|Permitir tudo: {0}|Ao carregar este conteúdo, são enviados dados a {0}.|Política de privacidade (novo separador)|Permitir {0}|Pedido de oposição respeitado|O sinal do seu navegador substitui a escolha anterior. Pode escolher novamente.',
  nl: 'Alles accepteren|Alles weigeren|Cookie-instellingen|Keuze opslaan|Altijd aan|Cookies|Sluiten|Uw keuze is opgeslagen.|Taal|Vastgelegde keuze opzoeken (nieuw tabblad)|Ontvangers|Bewaartermijn|tot de browser wordt gesloten|Eén keer laden|Alles toestaan: {0}|Als u deze inhoud laadt, ontvangt {0} gegevens.|Privacyverklaring (nieuw tabblad)|{0} toestaan|Opt-outverzoek gehonoreerd|Het signaal van uw browser vervangt uw eerdere keuze. U kunt opnieuw kiezen.',
  pl: 'Zaakceptuj wszystkie|Odrzuć wszystkie|Ustawienia plików cookie|Zapisz wybór|Zawsze włączone|Pliki cookie|Zamknij|Wybór został zapisany.|Język|Sprawdź zapisany wybór (nowa karta)|Odbiorcy|Okres przechowywania|do zamknięcia przeglądarki|Wczytaj raz|Zezwól na wszystko: {0}|Wczytanie tej treści powoduje wysłanie danych do odbiorcy: {0}|Polityka prywatności (nowa karta)|Zezwól: {0}|Żądanie rezygnacji uwzględnione|Sygnał przeglądarki zastępuje wcześniejszy wybór. Możesz wybrać ponownie.',
  sv: 'Godkänn alla|Avvisa alla|Cookieinställningar|Spara val|Alltid på|Kakor|Stäng|Ditt val är sparat.|Språk|Visa det registrerade valet (ny flik)|Mottagare|Lagringstid|tills webbläsaren stängs|Ladda en gång|Tillåt allt: {0}|När innehållet laddas skickas data till {0}.|Integritetspolicy (ny flik)|Tillåt {0}|Begäran om att avstå respekteras|Webbläsarens signal ersätter ditt tidigare val. Du kan välja igen.',
  ru: 'Принять все|Отклонить все|Настройки cookie|Сохранить выбор|Всегда включено|Файлы cookie|Закрыть|Ваш выбор сохранён.|Язык|Посмотреть записанный выбор (новая вкладка)|Получатели|Срок хранения|до закрытия браузера|Загрузить один раз|Разрешить всё: {0}|При загрузке этого содержимого данные получит {0}.|Политика конфиденциальности (новая вкладка)|Разрешить {0}|Запрос на отказ выполнен|Сигнал браузера заменяет ваш прежний выбор. Вы можете выбрать снова.',
  ar: 'قبول الكل|رفض الكل|إعدادات ملفات تعريف الارتباط|حفظ الاختيار|مفعّلة دائمًا|ملفات تعريف الارتباط|إغلاق|تم حفظ اختيارك.|اللغة|عرض الاختيار المسجَّل (علامة تبويب جديدة)|المستلمون|مدة الحفظ|حتى إغلاق المتصفح|تحميل مرة واحدة|السماح بالكل: {0}|عند تحميل هذا المحتوى تُرسل بيانات إلى {0}.|سياسة الخصوصية (علامة تبويب جديدة)|السماح: {0}|تم تنفيذ طلب الاعتراض|إشارة متصفحك تحل محل اختيارك السابق. يمكنك الاختيار من جديد.',
  he: 'אישור הכול|דחיית הכול|הגדרות קובצי Cookie|שמירת הבחירה|פעיל תמיד|קובצי Cookie|סגירה|הבחירה נשמרה.|שפה|צפייה בבחירה שנרשמה (לשונית חדשה)|נמענים|תקופת השמירה|עד לסגירת הדפדפן|טעינה חד־פעמית|לאפשר הכול: {0}|טעינת התוכן הזה שולחת נתונים אל {0}.|מדיניות פרטיות (לשונית חדשה)|לאפשר את {0}|בקשת ההתנגדות כובדה|האות של הדפדפן מחליף את בחירתך הקודמת. אפשר לבחור שוב.',
  fa: 'پذیرش همه|رد همه|تنظیمات کوکی|ذخیرهٔ انتخاب|همیشه فعال|کوکی‌ها|بستن|انتخاب شما ذخیره شد.|زبان|دیدن انتخاب ثبت‌شده (زبانهٔ جدید)|دریافت‌کنندگان|مدت نگهداری|تا بسته شدن مرورگر|یک بار بارگذاری|اجازه به همه: {0}|بارگذاری این محتوا داده‌ها را به {0} می‌فرستد.|سیاست حریم خصوصی (زبانهٔ جدید)|اجازه به {0}|درخواست انصراف شما رعایت شد|سیگنال مرورگر جایگزین انتخاب پیشین شما می‌شود. می‌توانید دوباره انتخاب کنید.',
};

const LANGUAGES = Object.keys(LABELS);

/** The text of a control, and its language, which differs from that of the banner if no translation is known. */
export type BannerLabel = { readonly text: string; readonly language: string };

/**
 * Returns the texts of the banner's controls from the site's configuration, or else from this file, or else in English.
 * @param banner texts of the configuration by name
 * @param language language of the configuration (BCP 47)
 */
export function bannerLabels(
  banner: Readonly<Record<string, string>>,
  language: string,
): Readonly<Record<string, BannerLabel>> {
  const known = LABELS[matchLanguage(LANGUAGES, [language]) ?? ''];
  const texts = (known ?? LABELS.en ?? '').split('|');
  const isNotice = (name: string): boolean => BANNER_NOTICES.some((notice) => notice === name);
  const labelOf = (name: string, index: number): BannerLabel =>
    banner[name] && !isNotice(name)
      ? { text: banner[name], language }
      : { text: texts[index] ?? name, language: known ? language : 'en' };
  return Object.fromEntries([...BANNER_CONTROLS, ...BANNER_NOTICES].map((name, index) => [name, labelOf(name, index)]));
}
