import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Hebrew. */
export const labels: LabelTexts = {
  accept: 'אישור הכול',
  reject: 'דחיית הכול',
  object: 'התנגדות',
  settings: 'הגדרות קובצי Cookie',
  save: 'שמירת הבחירה',
  always_on: 'פעיל תמיד',
  cookies: 'קובצי Cookie',
  close: 'סגירה',
  saved: 'הבחירה נשמרה.',
  language: 'שפה',
  proof: 'צפייה בבחירה שנרשמה (לשונית חדשה)',
  recipients: 'נמענים',
  storage_period: 'תקופת השמירה',
  until_closed: 'עד לסגירת הדפדפן',
  load_once: 'טעינה חד־פעמית',
  allow_all: 'לאפשר הכול: {0}',
  receives: 'טעינת התוכן הזה שולחת נתונים אל {0}.',
  service_policy: 'מדיניות פרטיות (לשונית חדשה)',
  allow: 'לאפשר את {0}',
  opt_out: 'בקשת ההתנגדות כובדה',
  opt_out_conflict: 'האות של הדפדפן מחליף את בחירתך הקודמת. אפשר לבחור שוב.',
  privacy_choices: 'אפשרויות הפרטיות שלך',
  do_not_sell: 'לא למכור ולא לשתף את המידע האישי שלי',
  allow_sale: 'לאפשר שוב מכירה ושיתוף',
  opted_out: 'התנגדת למכירה ולשיתוף של המידע האישי שלך.',
  opted_out_by_signal: 'אות הדפדפן שלך הביע התנגדות למכירה ולשיתוף של המידע האישי שלך.',
  not_opted_out: 'לא התנגדת למכירה ולשיתוף של המידע האישי שלך.',
};

export const defaults: DefaultTexts = {
  title: 'שימוש בקובצי Cookie',
  text: 'אנו משתמשים בקובצי Cookie ובטכנולוגיות דומות. מה שנחוץ לאתר הזה פעיל תמיד. באחרים אנו משתמשים רק בהסכמתך: אפשר לאשר הכול, לדחות הכול או לבחור לפי קטגוריה.',
  withdrawal: 'בכל עת אפשר לחזור מההסכמה או לשנות את הבחירה בהגדרות קובצי Cookie.',
  categories: {
    necessary: { title: 'הכרחיים', purpose: 'כדי שהאתר הזה יפעל בבטחה ויזכור את בחירתך.' },
    preferences: { title: 'העדפות', purpose: 'כדי לזכור את ההגדרות שלך, כגון השפה.' },
    analytics: { title: 'סטטיסטיקה', purpose: 'כדי למדוד את אופן השימוש באתר הזה.' },
    marketing: { title: 'פרסום', purpose: 'כדי לבחור פרסומות לפי תחומי העניין שלך ולמדוד את השפעתן.' },
  },
};
