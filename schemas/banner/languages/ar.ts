import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Arabic. */
export const labels: LabelTexts = {
  accept: 'قبول الكل',
  reject: 'رفض الكل',
  settings: 'إعدادات ملفات تعريف الارتباط',
  save: 'حفظ الاختيار',
  always_on: 'مفعّلة دائمًا',
  cookies: 'ملفات تعريف الارتباط',
  close: 'إغلاق',
  saved: 'تم حفظ اختيارك.',
  language: 'اللغة',
  proof: 'عرض الاختيار المسجَّل (علامة تبويب جديدة)',
  recipients: 'المستلمون',
  storage_period: 'مدة الحفظ',
  until_closed: 'حتى إغلاق المتصفح',
  load_once: 'تحميل مرة واحدة',
  allow_all: 'السماح بالكل: {0}',
  receives: 'عند تحميل هذا المحتوى تُرسل بيانات إلى {0}.',
  opt_out: 'تم تنفيذ طلب الاعتراض',
  opt_out_conflict: 'إشارة متصفحك تحل محل اختيارك السابق. يمكنك الاختيار من جديد.',
};

export const defaults: DefaultTexts = {
  title: 'استخدام ملفات تعريف الارتباط',
  text: 'نستخدم ملفات تعريف الارتباط وتقنيات مشابهة. ما يحتاج إليه هذا الموقع منها مفعّل دائمًا. ولا نستخدم غيرها إلا بموافقتك: يمكنك قبول الكل أو رفض الكل أو الاختيار حسب الفئة.',
  withdrawal: 'يمكنك سحب موافقتك أو تغيير اختيارك في أي وقت من إعدادات ملفات تعريف الارتباط.',
  categories: {
    necessary: { title: 'ضرورية', purpose: 'لكي يعمل هذا الموقع بأمان ويتذكر اختيارك.' },
    preferences: { title: 'التفضيلات', purpose: 'لتذكّر إعداداتك، مثل اللغة.' },
    analytics: { title: 'الإحصاءات', purpose: 'لقياس كيفية استخدام هذا الموقع.' },
    marketing: { title: 'الإعلانات', purpose: 'لاختيار الإعلانات وفق اهتماماتك وقياس أثرها.' },
  },
};
