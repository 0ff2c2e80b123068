import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Japanese. */
export const labels: LabelTexts = {
  accept: 'すべて同意する',
  reject: 'すべて拒否する',
  object: '異議を申し立てる',
  settings: 'Cookieの設定',
  save: '選択を保存',
  always_on: '常に有効',
  cookies: 'Cookie',
  close: '閉じる',
  saved: '選択を保存しました。',
  language: '言語',
  proof: '記録された選択を確認（新しいタブ）',
  recipients: '提供先',
  storage_period: '保存期間',
  until_closed: 'ブラウザーを閉じるまで',
  load_once: '1回だけ読み込む',
  allow_all: 'すべて許可：{0}',
  receives: 'このコンテンツを読み込むと、データが{0}に送信されます。',
  service_policy: 'プライバシーポリシー（新しいタブ）',
  allow: '許可：{0}',
  opt_out: 'オプトアウトの要求に対応しました',
  opt_out_conflict: 'ブラウザーの信号により、以前の選択は置き換えられます。改めて選択できます。',
  privacy_choices: 'プライバシーに関する選択',
  do_not_sell: '私の個人情報を販売または共有しない',
  allow_sale: '販売と共有を再び許可する',
  opted_out: '個人情報の販売と共有を拒否しています。',
  opted_out_by_signal: 'ブラウザーの信号により、個人情報の販売と共有を拒否しています。',
  not_opted_out: '個人情報の販売と共有を拒否していません。',
  account_scope: 'ログインしています。選択はアカウントに適用され、ログインするすべての端末で有効です。',
  account_space: '次のグループのサイトにも適用されます',
  account_applies: 'この端末にはアカウントの選択が適用されています。いつでも変更できます。',
  account_differs:
    'この端末での選択とアカウントの選択が異なります。選択するまでは、両方で許可されているものだけが有効です。',
  this_device: 'この端末',
  your_account: 'お使いのアカウント',
  nothing_optional: '任意の項目なし',
};

export const defaults: DefaultTexts = {
  title: 'Cookieの使用',
  text: '当サイトはCookieおよび類似の技術を使用します。サイトに必要なものは常に有効です。その他のものは、同意をいただいた場合にのみ使用します。すべてに同意する、すべてを拒否する、またはカテゴリーごとに選ぶことができます。',
  withdrawal: 'Cookieの設定で、いつでも同意を撤回したり、選択を変更したりすることができます。',
  categories: {
    necessary: { title: '必須', purpose: '当サイトを安全に動作させ、選択を記憶するため。' },
    preferences: { title: '個人設定', purpose: '言語などの設定を記憶するため。' },
    analytics: { title: '統計', purpose: '当サイトの利用状況を測定するため。' },
    marketing: { title: '広告', purpose: '興味や関心に応じて広告を選び、その効果を測定するため。' },
  },
};
