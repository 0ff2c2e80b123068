import type { DefaultTexts, LabelTexts } from '../language-texts.js';

/** Chinese in simplified characters. */
export const labels: LabelTexts = {
  accept: '全部接受',
  reject: '全部拒绝',
  object: '提出反对',
  settings: 'Cookie 设置',
  save: '保存选择',
  always_on: '始终启用',
  cookies: 'Cookie',
  close: '关闭',
  saved: '您的选择已保存。',
  language: '语言',
  proof: '查看已记录的选择（新标签页）',
  recipients: '接收方',
  storage_period: '保存期限',
  until_closed: '直至浏览器关闭',
  load_once: '加载一次',
  allow_all: '全部允许：{0}',
  receives: '加载此内容会将数据发送给 {0}。',
  service_policy: '隐私政策（新标签页）',
  allow: '允许：{0}',
  opt_out: '已执行您的“选择退出”请求',
  opt_out_conflict: '您浏览器的信号会取代您先前的选择。您可以重新选择。',
  privacy_choices: '您的隐私选择',
  do_not_sell: '不要出售或共享我的个人信息',
  allow_sale: '重新允许出售和共享',
  opted_out: '您已选择不出售和共享您的个人信息。',
  opted_out_by_signal: '您的浏览器信号已选择不出售和共享您的个人信息。',
  not_opted_out: '您尚未选择不出售和共享您的个人信息。',
};

export const defaults: DefaultTexts = {
  title: 'Cookie 的使用',
  text: '我们使用 Cookie 和类似技术。本网站必需的始终启用。其他的仅在您同意后使用：您可以全部接受、全部拒绝，或按类别选择。',
  withdrawal: '您可以随时在 Cookie 设置中撤回同意或更改选择。',
  categories: {
    necessary: { title: '必要', purpose: '使本网站安全运行，并记住您的选择。' },
    preferences: { title: '偏好', purpose: '记住您的设置，例如语言。' },
    analytics: { title: '统计', purpose: '衡量本网站的使用情况。' },
    marketing: { title: '广告', purpose: '根据您的兴趣选择广告，并衡量其效果。' },
  },
};
