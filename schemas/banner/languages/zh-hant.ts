import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Chinese in traditional characters. */
export const labels: LabelTexts = {
  accept: '全部接受',
  reject: '全部拒絕',
  object: '提出反對',
  settings: 'Cookie 設定',
  save: '儲存選擇',
  always_on: '一律啟用',
  cookies: 'Cookie',
  close: '關閉',
  saved: '您的選擇已儲存。',
  language: '語言',
  proof: '查看已記錄的選擇（新分頁）',
  recipients: '接收者',
  storage_period: '保存期間',
  until_closed: '直到瀏覽器關閉',
  load_once: '載入一次',
  allow_all: '全部允許：{0}',
  receives: '載入此內容會將資料傳送給 {0}。',
  service_policy: '隱私權政策（新分頁）',
  allow: '允許：{0}',
  opt_out: '已執行您的「選擇退出」要求',
  opt_out_conflict: '您瀏覽器的訊號會取代您先前的選擇。您可以重新選擇。',
  privacy_choices: '您的隱私選擇',
  do_not_sell: '請勿出售或分享我的個人資訊',
  allow_sale: '重新允許出售和分享',
  opted_out: '您已選擇不出售和分享您的個人資訊。',
  opted_out_by_signal: '您的瀏覽器訊號已選擇不出售和分享您的個人資訊。',
  not_opted_out: '您尚未選擇不出售和分享您的個人資訊。',
};

export const defaults: DefaultTexts = {
  title: 'Cookie 的使用方式',
  text: '我們使用 Cookie 及類似技術。本網站必要者一律啟用。其他項目僅在您同意後使用：您可以全部接受、全部拒絕，或依類別選擇。',
  withdrawal: '您可以隨時在 Cookie 設定中撤回同意或變更選擇。',
  categories: {
    necessary: { title: '必要', purpose: '讓本網站安全運作，並記住您的選擇。' },
    preferences: { title: '偏好設定', purpose: '記住您的設定，例如語言。' },
    analytics: { title: '統計', purpose: '衡量本網站的使用情形。' },
    marketing: { title: '廣告', purpose: '依您的興趣選擇廣告，並衡量其成效。' },
  },
};
